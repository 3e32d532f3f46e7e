import { generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '../contract/json.ts';

/** A small identity provider: real ES256 keys, real JWTs (RFC 7519), and its metadata over HTTP on request. */
export interface TokenIssuer extends AsyncDisposable {
  /** The `iss` of its tokens; an http URL once it listens. */
  readonly issuer: string;
  /** Public keys (RFC 7517). */
  jwks(): { readonly keys: readonly JsonObject[] };
  /** A signed token. Defaults: issuer, `iat` now, `exp` in one hour, a random `jti`; `claims` win. */
  token(claims: JsonObject, header?: JsonObject): string;
  /** Signs with a new key from now on; `keepOld: false` drops the old one from the JWKS. */
  rotate(keepOld?: boolean): void;
  /** Serves `/.well-known/openid-configuration` and `/jwks` on loopback. */
  listen(): Promise<string>;
}

/** Makes an issuer. Nothing listens until `listen` is called. */
export function tokenIssuer(now: () => number = Date.now): TokenIssuer {
  let keys = [newKey()];
  let issuer = 'https://issuer.test';
  let server: Server | undefined;
  const self: TokenIssuer = {
    get issuer() {
      return issuer;
    },
    jwks: () => ({
      keys: keys.map(({ kid, publicKey }) => ({ ...publicJwk(publicKey), kid, alg: 'ES256', use: 'sig' })),
    }),
    token(claims, header = {}) {
      const [key] = keys;
      if (key === undefined) throw new Error('the issuer has no key');
      const seconds = Math.floor(now() / 1000);
      const head = { alg: 'ES256', typ: 'JWT', kid: key.kid, ...header };
      const body = { iss: issuer, iat: seconds, exp: seconds + 3600, jti: randomUUID(), ...claims };
      const text = `${base64url(head)}.${base64url(body)}`;
      const signature = sign('sha256', Buffer.from(text), { key: key.privateKey, dsaEncoding: 'ieee-p1363' });
      return `${text}.${signature.toString('base64url')}`;
    },
    rotate(keepOld = true) {
      keys = keepOld ? [newKey(), ...keys] : [newKey()];
    },
    async listen() {
      if (server !== undefined) return issuer;
      const listening = createServer((request, response) => {
        const answer = answers(self)[request.url ?? ''];
        response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
        response.end(JSON.stringify(answer ?? { error: 'not_found' }));
      });
      server = listening;
      await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
      issuer = `http://127.0.0.1:${(listening.address() as AddressInfo).port}`;
      return issuer;
    },
    async [Symbol.asyncDispose]() {
      const listening = server;
      if (listening === undefined) return;
      listening.closeAllConnections();
      await new Promise((resolve) => listening.close(resolve));
    },
  };
  return self;
}

interface Key {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

function newKey(): Key {
  return { kid: randomUUID(), ...generateKeyPairSync('ec', { namedCurve: 'P-256' }) };
}

function publicJwk(key: KeyObject): JsonObject {
  return key.export({ format: 'jwk' }) as JsonObject;
}

function base64url(value: JsonObject): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function answers({ issuer, jwks }: TokenIssuer): Readonly<Record<string, JsonObject>> {
  return {
    '/.well-known/openid-configuration': {
      issuer,
      jwks_uri: `${issuer}/jwks`,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
    },
    '/jwks': { keys: [...jwks().keys] },
  };
}
