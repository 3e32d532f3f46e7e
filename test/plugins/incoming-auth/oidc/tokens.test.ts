import { inspect } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { CLIENTS, identityProvider } from '../../../support/identity-provider.ts';
import { loopbackServer } from '../../../support/loopback-server.ts';
import { AUDIENCE, oidcGateway } from '../../../support/oidc-gateway.ts';
import { proves } from '../../../support/proves.ts';
import { until } from '../../../support/until.ts';

const OPAQUE = 'https://opaque.example/mcp';
const SECRET = { TOOLMGR_TEST_OIDC_SECRET: CLIENTS.gateway.secret };

afterEach(() => {
  delete process.env.TOOLMGR_TEST_OIDC_SECRET;
});

const jwksFetches = (seen: readonly string[]): number => seen.filter((each) => each === 'GET /jwks').length;

describe('a JWT of the provider', () => {
  for (const alg of ['ES256', 'RS256', 'EdDSA'] as const) {
    proves(
      ['vmcp.config-incoming.type-oidc', 'vmcp.authentication.oidc-audience', 'vmcp.config-incoming.oidc-issuer'],
      `lets its user and a program in, signed with ${alg}`,
      async () => {
        await using idp = await identityProvider({ alg });
        await using gateway = await oidcGateway(idp);
        expect(await gateway.status(await idp.userToken('ada', AUDIENCE))).toBe(200);
        expect(await gateway.status(await idp.agentToken(AUDIENCE))).toBe(200);
        expect(gateway.calls.map(({ caller }) => [caller.issuer, caller.subject, caller.name])).toEqual([
          [idp.issuer, 'ada', 'Ada'],
          [idp.issuer, 'agent', undefined],
        ]);
      },
    );
  }

  proves('choice.oidc.caller', 'gives the caller its claims, and keeps the token from every log', async () => {
    await using idp = await identityProvider();
    await using gateway = await oidcGateway(idp);
    const token = await idp.userToken('ada', AUDIENCE);
    await gateway.status(token);
    const caller = gateway.calls[0]?.caller;
    expect(caller).toMatchObject({ key: `${idp.issuer}\0ada`, claims: { groups: ['admins'], scope: 'tools' } });
    expect(caller?.token?.reveal()).toBe(token);
    for (const shown of [inspect(caller, { depth: 9 }), JSON.stringify(caller), `${caller?.token}`]) {
      expect(shown).toContain('[secret]');
      expect(shown).not.toContain(token.slice(-20));
    }
  });

  it('is refused when its subject is not the required one', async () => {
    await using idp = await identityProvider();
    await using gateway = await oidcGateway(idp, { requiredSubject: 'agent' });
    expect(await gateway.status(await idp.agentToken(AUDIENCE))).toBe(200);
    expect(await gateway.status(await idp.userToken('ada', AUDIENCE))).toBe(401);
  });

  it('is accepted whether or not its issuer, or the configured one, ends with a slash', async () => {
    await using idp = await identityProvider();
    await using gateway = await oidcGateway({ issuer: `${idp.issuer}/` }, { jwksUrl: `${idp.issuer}/jwks` });
    for (const iss of [idp.issuer, `${idp.issuer}/`]) {
      expect(await gateway.status(idp.sign({ sub: 'ada', aud: AUDIENCE, iss }))).toBe(200);
    }
    // one caller, however it is spelled: sessions would not fit otherwise
    expect(gateway.calls.map(({ caller }) => caller.key)).toEqual([`${idp.issuer}\0ada`, `${idp.issuer}\0ada`]);
  });

  it('is accepted with its scheme in upper or lower case', async () => {
    await using idp = await identityProvider();
    await using gateway = await oidcGateway(idp);
    const token = await idp.userToken('ada', AUDIENCE);
    for (const scheme of ['Bearer', 'bearer', 'BEARER'])
      expect((await gateway.ask(`${scheme} ${token}`)).status).toBe(200);
  });

  proves('choice.oidc.leeway', 'counts with clocks 30 seconds apart, and not with more', async () => {
    await using idp = await identityProvider();
    await using gateway = await oidcGateway(idp);
    const now = Math.floor(Date.now() / 1000);
    const expired = (seconds: number) => idp.sign({ sub: 'ada', aud: AUDIENCE, exp: now - seconds });
    const early = (seconds: number) => idp.sign({ sub: 'ada', aud: AUDIENCE, nbf: now + seconds });
    expect(await gateway.status(expired(10))).toBe(200);
    expect(await gateway.status(early(10))).toBe(200);
    for (const token of [expired(31), early(300)]) expect(await gateway.status(token)).toBe(401);
  });

  proves('choice.oidc.cache', 'is verified once, and counts until it expires', async () => {
    await using idp = await identityProvider();
    await using gateway = await oidcGateway(idp);
    const token = await idp.userToken('ada', AUDIENCE);
    expect(await Promise.all([1, 2, 3].map(() => gateway.status(token)))).toEqual([200, 200, 200]);
    await idp.pause();
    expect(await gateway.status(token)).toBe(200);
    const callers = new Set(gateway.calls.map(({ caller }) => caller));
    expect(callers.size).toBe(1);
    gateway.clock.aheadMs = 3600_000 + 31_000;
    expect((await gateway.ask(`Bearer ${token}`)).json.error?.message).toBe('the token has expired');
  });
});

describe('the keys of the provider', () => {
  proves('choice.oidc.rotation', 'may be rotated while the gateway runs', async () => {
    await using idp = await identityProvider();
    await using gateway = await oidcGateway(idp);
    const old = await idp.userToken('ada', AUDIENCE);
    expect(await gateway.status(old)).toBe(200);
    idp.rotate();
    gateway.clock.aheadMs = 11_000; // the pause between two looks for unknown keys
    const fresh = await idp.userToken('ada', AUDIENCE);
    expect(await Promise.all([1, 2, 3, 4].map(() => gateway.status(fresh)))).toEqual([200, 200, 200, 200]);
    expect(jwksFetches(idp.seen)).toBe(2);
    expect(await gateway.status(old)).toBe(200);
  });

  proves('choice.oidc.withdrawn', 'take back what they signed when they are withdrawn', async () => {
    await using idp = await identityProvider();
    await using gateway = await oidcGateway(idp);
    const old = await idp.userToken('ada', AUDIENCE);
    expect(await gateway.status(old)).toBe(200);
    idp.rotate(false);
    gateway.clock.aheadMs = 5 * 60_000 + 1;
    // there is no new token: the use of a known one renews the keys
    await until(async () => (await gateway.status(old)) === 401);
    expect(await gateway.status(await idp.userToken('ada', AUDIENCE))).toBe(200);
  });

  proves('vmcp.config-incoming.oidc-jwks-url', 'are fetched from jwksUrl without discovery', async () => {
    await using idp = await identityProvider();
    await using gateway = await oidcGateway(idp, { jwksUrl: `${idp.issuer}/jwks` });
    expect(await gateway.status(await idp.userToken('ada', AUDIENCE))).toBe(200);
    expect(idp.seen.filter((each) => each.startsWith('GET'))).toEqual(['GET /jwks']);
  });

  it('are found through OAuth metadata when there is no OpenID document', async () => {
    await using idp = await identityProvider();
    await using proxy = await loopbackServer((request, response) => {
      const document = { issuer: `${proxy.url}/team`, jwks_uri: `${idp.issuer}/jwks` };
      const isThere = request.url === '/.well-known/oauth-authorization-server/team';
      response.writeHead(isThere ? 200 : 404).end(JSON.stringify(isThere ? document : {}));
    });
    await using gateway = await oidcGateway({ issuer: `${proxy.url}/team` });
    const token = idp.sign({ sub: 'ada', aud: AUDIENCE, iss: `${proxy.url}/team` });
    expect(await gateway.status(token)).toBe(200);
    expect(proxy.seen[0]).toBe('GET /team/.well-known/openid-configuration');
  });

  it('are not taken from the document of another issuer', async () => {
    await using idp = await identityProvider();
    await using liar = await loopbackServer((_request, response) => {
      response.end(JSON.stringify({ issuer: idp.issuer, jwks_uri: `${idp.issuer}/jwks` }));
    });
    await using gateway = await oidcGateway({ issuer: liar.url });
    expect(await gateway.status(idp.sign({ sub: 'ada', aud: AUDIENCE, iss: liar.url }))).toBe(503);
    expect(jwksFetches(idp.seen)).toBe(0);
    expect(gateway.kit.logged.join()).toContain(`property does not match the expected value (${liar.url})`);
  });

  it('are not taken from a document whose issuer is not a URL', async () => {
    await using odd = await loopbackServer((_request, response) => {
      response.end(JSON.stringify({ issuer: 'the provider', jwks_uri: `${odd.url}/jwks` }));
    });
    await using gateway = await oidcGateway({ issuer: odd.url });
    await using idp = await identityProvider();
    expect(await gateway.status(idp.sign({ sub: 'ada', aud: AUDIENCE, iss: odd.url }))).toBe(503);
    expect(gateway.kit.logged.join()).toContain('property is not a URL');
  });
});

describe('an unavailable provider', () => {
  proves('choice.oidc.away', 'at the start delays no request, and is requested again', async () => {
    await using idp = await identityProvider();
    const token = await idp.userToken('ada', AUDIENCE);
    await idp.pause();
    await using gateway = await oidcGateway(idp);
    const reply = await gateway.ask(`Bearer ${token}`);
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '5']);
    expect(reply.json.error?.message).toContain('the identity provider is unavailable');
    await idp.resume();
    gateway.clock.aheadMs = 60_000;
    expect(await gateway.status(token)).toBe(200);
  });

  proves('choice.oidc.away', 'later keeps known tokens and known keys working', async () => {
    await using idp = await identityProvider();
    await using gateway = await oidcGateway(idp);
    const [first, second] = [await idp.userToken('ada', AUDIENCE), await idp.userToken('bob', AUDIENCE)];
    expect(await gateway.status(first)).toBe(200);
    await idp.pause();
    gateway.clock.aheadMs = 6 * 60_000;
    expect([await gateway.status(first), await gateway.status(second)]).toEqual([200, 200]);
    // an unknown key may be a new one, so the token is not invalid
    idp.rotate();
    expect(await gateway.status(idp.sign({ sub: 'ada', aud: AUDIENCE }))).toBe(503);
  });

  it('is logged once, not with every request', async () => {
    await using idp = await identityProvider();
    await idp.pause();
    await using gateway = await oidcGateway(idp);
    for (const _ of [1, 2, 3, 4, 5]) await gateway.status(idp.sign({ sub: 'ada', aud: AUDIENCE }));
    const lines = gateway.kit.logged.filter((line) => line.includes('are unavailable'));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('ECONNREFUSED');
  });
});

describe('an opaque token', () => {
  const config = (issuer: string) => ({
    audience: OPAQUE,
    introspectionUrl: `${issuer}/token/introspection`,
    clientSecretEnv: 'TOOLMGR_TEST_OIDC_SECRET',
  });

  proves(
    [
      'vmcp.config-incoming.oidc-introspection-url',
      'vmcp.config-incoming.oidc-client-secret-env',
      'vmcp.config-incoming.oidc-client-id',
    ],
    'is asked about at the provider, with the secret of the gateway',
    async () => {
      Object.assign(process.env, SECRET);
      await using idp = await identityProvider({ opaqueAudiences: [OPAQUE] });
      await using gateway = await oidcGateway(idp, config(idp.issuer));
      expect(await gateway.status(await idp.userToken('bob', OPAQUE))).toBe(200);
      expect(await gateway.status(await idp.agentToken(OPAQUE))).toBe(200);
      expect(gateway.calls.map(({ caller }) => [caller.subject, caller.claims.groups])).toEqual([
        ['bob', ['staff']],
        ['client_id:agent', undefined],
      ]);
      expect(gateway.calls[0]?.caller.claims).not.toHaveProperty('active');
    },
  );

  proves('choice.oidc.introspection-cache', 'that was revoked counts a minute longer at most', async () => {
    Object.assign(process.env, SECRET);
    await using idp = await identityProvider({ opaqueAudiences: [OPAQUE] });
    await using gateway = await oidcGateway(idp, config(idp.issuer));
    const token = await idp.userToken('bob', OPAQUE);
    expect(await Promise.all([1, 2, 3].map(() => gateway.status(token)))).toEqual([200, 200, 200]);
    expect(idp.seen.filter((each) => each === 'POST /token/introspection')).toHaveLength(1);
    idp.revokeAll();
    gateway.clock.aheadMs = 60_001;
    expect((await gateway.ask(`Bearer ${token}`)).json.error?.message).toBe('the token is not active');
  });

  it('gets 503 while introspection fails, with the client credentials as the reason', async () => {
    process.env.TOOLMGR_TEST_OIDC_SECRET = 'wrong-secret';
    await using idp = await identityProvider({ opaqueAudiences: [OPAQUE] });
    await using gateway = await oidcGateway(idp, config(idp.issuer));
    expect(await gateway.status(await idp.userToken('bob', OPAQUE))).toBe(503);
    const logged = gateway.kit.logged.join();
    expect(logged).toContain("refused the gateway's own credentials (status 401)");
    expect(logged).not.toContain('wrong-secret');
  });

  it('is refused without an introspection endpoint', async () => {
    await using idp = await identityProvider({ opaqueAudiences: [OPAQUE] });
    await using gateway = await oidcGateway(idp, { audience: OPAQUE });
    const reply = await gateway.ask(`Bearer ${await idp.userToken('bob', OPAQUE)}`);
    expect([reply.status, reply.json.error?.message]).toEqual([401, 'the token is not a signed JWT']);
  });

  it('needs the client secret when the gateway starts', async () => {
    await using idp = await identityProvider();
    const opening = oidcGateway(idp, config(idp.issuer));
    await expect(opening).rejects.toMatchObject({
      code: 'SECRET_MISSING',
      message: expect.stringContaining('the environment variable TOOLMGR_TEST_OIDC_SECRET is not set'),
    });
  });
});
