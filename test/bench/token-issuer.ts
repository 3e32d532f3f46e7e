import { generateKeyPairSync, sign } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const AUDIENCE = 'https://bench.example/mcp';
const KEY_ID = 'bench';
const LIFE_SECONDS = 24 * 3600;

/** An issuer with one key, published on loopback, and one token. */
export interface TokenIssuer extends AsyncDisposable {
  readonly issuer: string;
  readonly jwksUrl: string;
  readonly audience: string;
  /** Token of a caller in the group `bench`, valid for longer than any run. */
  readonly token: string;
}

/** Starts an issuer: an ES256 key and a token with the usual claims. */
export async function tokenIssuer(): Promise<TokenIssuer> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwks = JSON.stringify({
    keys: [{ ...publicKey.export({ format: 'jwk' }), kid: KEY_ID, alg: 'ES256', use: 'sig' }],
  });
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(jwks);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const nowSeconds = Math.floor(Date.now() / 1000);
  const claims = {
    ...{ iss: issuer, sub: 'load', aud: AUDIENCE, iat: nowSeconds, exp: nowSeconds + LIFE_SECONDS },
    ...{ name: 'Load Tool', email: 'load@bench.example', scope: 'openid tools', groups: ['bench', 'everyone'] },
  };
  const text = `${base64url({ alg: 'ES256', typ: 'at+jwt', kid: KEY_ID })}.${base64url(claims)}`;
  const signature = sign('sha256', Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return {
    issuer,
    jwksUrl: `${issuer}/jwks`,
    audience: AUDIENCE,
    token: `${text}.${signature.toString('base64url')}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function base64url(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
