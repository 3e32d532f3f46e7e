import { createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { JsonObject } from '@toolmgr/core';
import { base64url, signedJwt } from '../../../support/identity-provider.ts';
import { type Got, scriptedProvider, type UpstreamOptions, upstreamOf } from './support.ts';

export const SECRET = 'canary-client-secret';
export const DISCOVERY = '/.well-known/openid-configuration';

const KEYS = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const KID = 'key-1';

/** Answers that a test replaces; all others are those of an honest provider. */
export interface Hostile {
  readonly metadata?: (url: string) => JsonObject;
  /** Claims that replace those of an honest ID token; `undefined` removes one. */
  readonly claims?: Readonly<Record<string, unknown>>;
  /** Makes the ID token. */
  readonly idToken?: (claims: Readonly<Record<string, unknown>>) => string;
  readonly token?: JsonObject;
  readonly answers?: Readonly<Record<string, (got: Got) => unknown>>;
  readonly fields?: JsonObject;
  readonly provider?: JsonObject;
  readonly options?: UpstreamOptions;
}

/** An OpenID Connect provider whose every answer a test can replace, and the gateway's upstream for it. */
export async function hostileProvider(hostile: Hostile = {}) {
  let url = '';
  let nonce = '';
  const claimsNow = (): Readonly<Record<string, unknown>> => {
    const seconds = Math.floor(Date.now() / 1000);
    const honest = { iss: url, sub: 'ada', aud: 'gateway', iat: seconds, exp: seconds + 300, nonce };
    return { ...honest, ...hostile.claims };
  };
  const sign = (claims: Readonly<Record<string, unknown>>) =>
    signedJwt({ alg: 'ES256', kid: KID }, claims, KEYS.privateKey);
  const server = await scriptedProvider({
    [DISCOVERY]: () => ({
      issuer: url,
      authorization_endpoint: `${url}/authorize`,
      token_endpoint: `${url}/token`,
      jwks_uri: `${url}/jwks`,
      userinfo_endpoint: `${url}/userinfo`,
      id_token_signing_alg_values_supported: ['ES256'],
      ...hostile.metadata?.(url),
    }),
    '/jwks': () => ({ keys: [publicJwk(KEYS.publicKey)] }),
    '/userinfo': () => ({ sub: 'ada', name: 'Ada' }),
    '/token': () => ({
      access_token: 'canary-access-token',
      token_type: 'bearer',
      refresh_token: 'canary-refresh-token',
      id_token: (hostile.idToken ?? sign)(claimsNow()),
      ...hostile.token,
    }),
    ...hostile.answers,
  });
  url = server.url;
  const upstream = await upstreamOf(
    {
      type: 'oidc',
      oidcConfig: { issuerUrl: url, clientId: 'gateway', clientSecretRef: { env: 'SECRET' }, ...hostile.fields },
      ...hostile.provider,
    },
    { environment: { SECRET }, ...hostile.options },
  );
  const setNonce = (value: string): void => {
    nonce = value;
  };
  return { ...server, upstream, setNonce, sign };
}

export function publicJwk(key: KeyObject): JsonObject {
  return { ...(key.export({ format: 'jwk' }) as JsonObject), kid: KID, alg: 'ES256', use: 'sig' };
}

/** A token that is signed with a public key as if it were a shared secret. */
export function confusedJwt(claims: Readonly<Record<string, unknown>>, secret: string | Buffer): string {
  const text = `${base64url({ alg: 'HS256', kid: KID })}.${base64url(claims)}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}

/** The ways in which a public key could be taken for a secret. */
export const PUBLIC_AS_SECRET: readonly (string | Buffer)[] = [
  KEYS.publicKey.export({ format: 'pem', type: 'spki' }) as string,
  KEYS.publicKey.export({ format: 'der', type: 'spki' }),
  JSON.stringify(KEYS.publicKey.export({ format: 'jwk' })),
  SECRET,
];

/** An answer without an end. */
export function endless({ response }: Got): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const chunk = Buffer.alloc(64 * 1024, ' ');
  const more = (): void => {
    while (!response.destroyed && response.write(chunk));
    if (!response.destroyed) response.once('drain', more);
  };
  more();
}

/** An answer of one byte in 50 ms. */
export function slow({ response }: Got): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const timer = setInterval(() => response.write(' '), 50);
  response.on('close', () => clearInterval(timer));
}

/** JSON that is nested far too deeply. */
export function deep({ response }: Got): void {
  const levels = 200_000;
  const text = `{"access_token":"a","token_type":"bearer","keys":${'['.repeat(levels)}${']'.repeat(levels)}}`;
  response.writeHead(200, { 'content-type': 'application/json' }).end(text);
}
