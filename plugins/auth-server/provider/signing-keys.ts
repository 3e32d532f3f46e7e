import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { GatewayFault, type JsonObject } from '@toolmgr/core';

/** A key that signs access tokens. */
export interface SigningKey {
  /** RFC 7638 thumbprint, SHA-256. */
  readonly kid: string;
  readonly alg: SigningAlgorithm;
  readonly privateJwk: JsonObject;
  readonly publicJwk: JsonObject;
  readonly publicKey: KeyObject;
}

/** JWS algorithms of the keys. */
export type SigningAlgorithm = 'RS256' | 'ES256' | 'ES384' | 'ES512' | 'EdDSA';

/**
 * Reads a PEM private key: RSA of 2048 bits or more, EC P-256, P-384 or P-521, or Ed25519.
 *
 * `where`: the setting, for errors.
 * @throws GatewayFault PLAN_INVALID, without any part of the key
 */
export function signingKeyFromPem(pem: Buffer, where: string): SigningKey {
  let key: KeyObject;
  try {
    key = createPrivateKey({ key: pem, format: 'pem' });
  } catch {
    // the cause of the library may have parts of the text
    throw new GatewayFault('PLAN_INVALID', `${where}: expected a PEM private key without a passphrase`);
  }
  const alg = algorithmOf(key);
  if (alg !== undefined) return signingKey(key, alg);
  throw new GatewayFault(
    'PLAN_INVALID',
    `${where}: expected an RSA key of 2048 bits or more, an EC key on P-256, P-384 or P-521, or an Ed25519 key`,
  );
}

/** A new ES256 key, for development. */
export function ephemeralSigningKey(): SigningKey {
  return signingKey(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey, 'ES256');
}

const EC_ALGORITHMS: Readonly<Record<string, SigningAlgorithm>> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
};
const MIN_RSA_BITS = 2048;

function algorithmOf({
  asymmetricKeyType: type,
  asymmetricKeyDetails: details,
}: KeyObject): SigningAlgorithm | undefined {
  if (type === 'ed25519') return 'EdDSA';
  if (type === 'ec') return EC_ALGORITHMS[details?.namedCurve ?? ''];
  return type === 'rsa' && (details?.modulusLength ?? 0) >= MIN_RSA_BITS ? 'RS256' : undefined;
}

function signingKey(key: KeyObject, alg: SigningAlgorithm): SigningKey {
  const publicKey = createPublicKey(key);
  const jwk = publicKey.export({ format: 'jwk' }) as JsonObject;
  const named = { kid: thumbprint(jwk), alg, use: 'sig' };
  return {
    kid: named.kid,
    alg,
    privateJwk: { ...(key.export({ format: 'jwk' }) as JsonObject), ...named },
    publicJwk: { ...jwk, ...named },
    publicKey,
  };
}

/** Source: RFC 7638 §3.2, RFC 8037 §2: the required members in lexicographic order. */
function thumbprint(jwk: JsonObject): string {
  const members = ['crv', 'e', 'kty', 'n', 'x', 'y'].filter((name) => jwk[name] !== undefined);
  const text = JSON.stringify(Object.fromEntries(members.map((name) => [name, jwk[name]])));
  return createHash('sha256').update(text).digest('base64url');
}
