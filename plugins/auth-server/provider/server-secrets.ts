import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { type Core, GatewayFault } from '@toolmgr/core';
import { readSecretBytes, type SecretReference } from '@toolmgr/plugins/kit/secrets';
import { ephemeralSigningKey, type SigningKey, signingKeyFromPem } from './signing-keys.ts';

/** The keys of the authorization server. */
export interface ServerSecrets {
  /** At least one: the first signs, all are published. */
  readonly signingKeys: readonly [SigningKey, ...SigningKey[]];
  /** At least one of 32 bytes or more: the first signs codes, refresh tokens and cookies, all verify. */
  readonly hmacSecrets: readonly [KeyObject, ...KeyObject[]];
}

/** The settings with the references. */
export interface SecretSettings {
  readonly issuer: string;
  readonly signingKeySecretRefs: readonly SecretReference[];
  readonly hmacSecretRefs: readonly SecretReference[];
}

const MIN_HMAC_BYTES = 32;

/**
 * Reads the keys. Keys that are not configured are made, with one warning; a reload of the configuration keeps them.
 * @throws GatewayFault SECRET_MISSING, PLAN_INCOMPLETE, PLAN_INVALID
 */
export async function readServerSecrets(
  { slots, log }: Pick<Core, 'slots' | 'log'>,
  { issuer, signingKeySecretRefs, hmacSecretRefs }: SecretSettings,
): Promise<ServerSecrets> {
  const signingKeys = await Promise.all(
    signingKeySecretRefs.map(async (reference, index) => {
      const where = `authServerConfig.signingKeySecretRefs[${index}]`;
      return signingKeyFromPem(await readSecretBytes(slots, reference, where), where);
    }),
  );
  const hmacSecrets = await Promise.all(
    hmacSecretRefs.map(async (reference, index) => {
      const where = `authServerConfig.hmacSecretRefs[${index}]`;
      const bytes = await readSecretBytes(slots, reference, where);
      if (bytes.length < MIN_HMAC_BYTES) {
        throw new GatewayFault(
          'PLAN_INVALID',
          `${where}: expected at least ${MIN_HMAC_BYTES} bytes, found ${bytes.length}`,
        );
      }
      return createSecretKey(bytes);
    }),
  );
  const [signing, ...olderSigning] = signingKeys;
  const [hmac, ...olderHmac] = hmacSecrets;
  const missing = [signing === undefined ? 'signingKeySecretRefs' : '', hmac === undefined ? 'hmacSecretRefs' : '']
    .filter(Boolean)
    .join(' and ');
  if (missing !== '') {
    log.warn('the authorization server uses keys that end with this process; configure keys for production', {
      issuer,
      missing,
    });
  }
  return {
    signingKeys: [signing ?? ephemeralKeys(issuer).signing, ...olderSigning],
    hmacSecrets: [hmac ?? ephemeralKeys(issuer).hmac, ...olderHmac],
  };
}

interface EphemeralKeys {
  readonly signing: SigningKey;
  readonly hmac: KeyObject;
}

/** By issuer, so that a reload does not end sessions. */
const ephemeral = new Map<string, EphemeralKeys>();

function ephemeralKeys(issuer: string): EphemeralKeys {
  const known = ephemeral.get(issuer);
  if (known !== undefined) return known;
  const made = { signing: ephemeralSigningKey(), hmac: createSecretKey(randomBytes(MIN_HMAC_BYTES)) };
  ephemeral.set(issuer, made);
  return made;
}
