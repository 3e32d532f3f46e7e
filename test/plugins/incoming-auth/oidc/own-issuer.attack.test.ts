import { createHmac, createPublicKey } from 'node:crypto';
import { definePlugin, GatewayFault, type JsonObject, type Plugin } from '@toolmgr/core';
import { tokenIssuer } from '@toolmgr/core/testing';
import { type TokenIssuer, tokenIssuers } from '@toolmgr/plugins/kit/extension-points';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import { AUDIENCE, type OidcGiven, oidcGateway } from '../../../support/oidc-gateway.ts';

const ACCESS = { typ: 'at+jwt' };
const ADA = { sub: 'ada', aud: AUDIENCE };

/** A gateway whose own authorization server is a stub with real keys. Nothing listens at the issuer's URL. */
async function ownGateway({ name, ...config }: OidcGiven & { readonly name?: string } = {}) {
  const issuer = tokenIssuer();
  const withdrawn = new Set<unknown>();
  const asked: unknown[] = [];
  const own = {
    audiences: ['https://other.example', AUDIENCE],
    keys: async () => issuer.jwks().keys,
    isWithdrawn: ({ jti }: JsonObject): boolean | Promise<boolean> => {
      asked.push(jti);
      return Promise.resolve(withdrawn.has(jti));
    },
  } satisfies TokenIssuer;
  const plugin: Plugin = definePlugin({
    address: 'test/own-issuer',
    config: z.strictObject({}),
    apply: ({ slot }) => slot(tokenIssuers).register(name ?? issuer.issuer, own),
  });
  // without the settings that allow http and private addresses
  const given = { insecureAllowHttp: false, jwksAllowPrivateIp: false, ...config };
  const gateway = await oidcGateway({ issuer: config.issuer ?? issuer.issuer }, given, [plugin]);
  return { ...gateway, issuer, own, withdrawn, asked, [Symbol.asyncDispose]: gateway[Symbol.asyncDispose] };
}

describe('a token of the own authorization server', () => {
  it('is accepted with keys of this process, without a request over HTTP', async () => {
    await using at = await ownGateway();
    expect(await at.status(at.issuer.token({ ...ADA, tsid: 's1' }, ACCESS))).toBe(200);
    expect(at.calls[0]?.caller).toMatchObject({ subject: 'ada', claims: { tsid: 's1' } });
    at.issuer.rotate();
    at.clock.aheadMs += 15_000; // an unknown key is looked up at most every ten seconds
    expect(await at.status(at.issuer.token(ADA, ACCESS))).toBe(200);
  });

  it('may have an issuer on this machine over http, which another issuer may not', async () => {
    const issuer = 'http://127.0.0.1:4483';
    await using at = await ownGateway({ issuer, name: `${issuer}/` });
    expect(await at.status(at.issuer.token({ ...ADA, iss: issuer }, ACCESS))).toBe(200);
    await expect(ownGateway({ issuer, name: 'http://127.0.0.1:4484' })).rejects.toThrow(
      'incomingAuth.oidc.issuer: expected https; plain http is not allowed (insecureAllowHttp allows it, for development)',
    );
    await expect(ownGateway({ issuer: 'https://127.0.0.1:1', name: 'https://127.0.0.1:2' })).rejects.toThrow(
      'jwksAllowPrivateIp allows it',
    );
  });

  it('is refused at the start when the audience is not one of the authorization server', async () => {
    await expect(ownGateway({ audience: 'https://third.example' })).rejects.toThrow(
      `incomingAuth.oidc.audience: the authorization server of this gateway issues no tokens for https://third.example (its audiences: https://other.example, ${AUDIENCE})`,
    );
  });

  it('is asked for with the metadata of the resource, which names the issuer', async () => {
    await using at = await ownGateway();
    const { status, headers } = await at.ask();
    const [, url = ''] = /resource_metadata="([^"]+)"/.exec(headers.get('www-authenticate') ?? '') ?? [];
    expect([status, url]).toEqual([401, 'https://gateway.example/.well-known/oauth-protected-resource/mcp']);
    const metadata = await fetch(new URL(new URL(url).pathname, at.url));
    expect(await metadata.json()).toMatchObject({ resource: AUDIENCE, authorization_servers: [at.issuer.issuer] });
  });
});

describe('a token that was withdrawn', () => {
  it('is refused at once when it is new, and within seconds when it is cached', async () => {
    await using at = await ownGateway();
    const [one, two] = [at.issuer.token({ ...ADA, jti: '1' }, ACCESS), at.issuer.token({ ...ADA, jti: '2' }, ACCESS)];
    at.withdrawn.add('2');
    expect(await at.status(two)).toBe(401);
    expect([await at.status(one), await at.status(one)]).toEqual([200, 200]);
    at.withdrawn.add('1');
    at.clock.aheadMs += 3_000;
    const { status, headers } = await at.ask(`Bearer ${one}`);
    expect([status, headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringContaining('the token was withdrawn'),
    ]);
    expect(await at.status(one)).toBe(401);
  });

  it('is refused at once when the issuer knows it already', async () => {
    await using at = await ownGateway();
    const token = at.issuer.token({ ...ADA, jti: '1' }, ACCESS);
    at.own.isWithdrawn = ({ jti }) => at.withdrawn.has(jti);
    expect([await at.status(token), await at.status(token)]).toEqual([200, 200]);
    at.withdrawn.add('1');
    expect(await at.status(token)).toBe(401);
  });

  it('keeps others valid for a minute while it cannot be asked, then they get 503 and not 401', async () => {
    await using at = await ownGateway();
    const token = at.issuer.token(ADA, ACCESS);
    expect(await at.status(token)).toBe(200);
    at.own.isWithdrawn = () => Promise.reject(new GatewayFault('STORE_UNAVAILABLE', 'no store'));
    for (const aheadMs of [4_000, 30_000, 56_000]) {
      at.clock.aheadMs = aheadMs;
      expect([aheadMs, await at.status(token)]).toEqual([aheadMs, 200]);
    }
    at.clock.aheadMs = 70_000;
    expect(await at.status(token)).toBe(503);
    expect(await at.status(at.issuer.token(ADA, ACCESS))).toBe(503); // a new one was never known to be valid
    at.own.isWithdrawn = () => false;
    expect(await at.status(token)).toBe(200);
  });
});

describe('a forged token', () => {
  it('of another issuer with the same key id, and of another gateway, is refused', async () => {
    await using at = await ownGateway();
    const [{ kid } = {}] = at.issuer.jwks().keys;
    const other = tokenIssuer();
    const header = { ...ACCESS, kid: kid as string };
    expect(await at.status(other.token({ ...ADA, iss: at.issuer.issuer }, header))).toBe(401);
    expect(await at.status(at.issuer.token({ ...ADA, iss: 'https://other-gateway.example' }, ACCESS))).toBe(401);
    expect(await at.status(at.issuer.token({ ...ADA, aud: 'https://other.example' }, ACCESS))).toBe(401);
    expect(at.asked).toEqual([]);
  });

  it('signed with the public key as a shared secret, or not at all, is refused', async () => {
    await using at = await ownGateway();
    const [jwk] = at.issuer.jwks().keys;
    const publicKey = createPublicKey({ key: jwk as never, format: 'jwk' });
    const secrets = [
      publicKey.export({ type: 'spki', format: 'pem' }) as string,
      publicKey.export({ type: 'spki', format: 'der' }) as Buffer,
      JSON.stringify(jwk),
    ];
    const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const claims = encoded({ ...ADA, iss: at.issuer.issuer, exp: Date.now() / 1000 + 60 });
    for (const alg of ['HS256', 'HS512']) {
      for (const secret of secrets) {
        const head = `${encoded({ ...ACCESS, alg, kid: jwk?.kid })}.${claims}`;
        const hash = alg === 'HS256' ? 'sha256' : 'sha512';
        expect(await at.status(`${head}.${createHmac(hash, secret).update(head).digest('base64url')}`)).toBe(401);
      }
    }
    expect(await at.status(`${encoded({ ...ACCESS, alg: 'none' })}.${claims}.`)).toBe(401);
    expect(await at.status(at.issuer.token(ADA, { ...ACCESS, alg: 'RS256' }))).toBe(401);
  });

  it('is refused when it is signed by the same keys and is no access token', async () => {
    await using at = await ownGateway();
    for (const typ of ['JWT', 'logout+jwt', 'oauth-authz-req+jwt', '']) {
      expect([typ, await at.status(at.issuer.token(ADA, { typ }))]).toEqual([typ, 401]);
    }
    expect(await at.status(at.issuer.token(ADA, { typ: 'application/at+jwt' }))).toBe(200);
  });
});
