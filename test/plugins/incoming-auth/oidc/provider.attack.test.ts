import { createHmac, generateKeyPairSync } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import oidc from '../../../../plugins/incoming-auth/oidc/index.ts';
import { base64url, identityProvider, signedJwt } from '../../../support/identity-provider.ts';
import { loopbackServer } from '../../../support/loopback-server.ts';
import { AUDIENCE, oidcGateway } from '../../../support/oidc-gateway.ts';
import { bootPlugin } from '../../../support/plugin-core.ts';
import { proves } from '../../../support/proves.ts';
import { until } from '../../../support/until.ts';

const claimsOf = (iss: string) => ({ iss, sub: 'ada', aud: AUDIENCE, exp: Math.floor(Date.now() / 1000) + 60 });

afterEach(() => {
  delete process.env.TOOLMGR_TEST_OIDC_SECRET;
});

describe('a provider whose URLs point to internal addresses', () => {
  proves(
    ['vmcp.config-incoming.oidc-jwks-allow-private-ip', 'choice.remote.addresses'],
    'is not reached by name, for discovery and for keys, unless the setting allows it',
    async () => {
      await using inside = await loopbackServer((_request, response) => response.end('{"keys":[]}'));
      const byName = inside.url.replace('127.0.0.1', 'localhost');
      for (const config of [{}, { jwksUrl: `${byName}/jwks` }]) {
        await using gateway = await oidcGateway({ issuer: byName }, { jwksAllowPrivateIp: false, ...config });
        expect(await gateway.status(signedAs(byName))).toBe(503);
        expect(gateway.kit.logged.join()).toContain('leads to a loopback address, which is not allowed');
      }
      expect(inside.seen).toEqual([]);
      await using allowed = await oidcGateway({ issuer: byName });
      await allowed.status(signedAs(byName));
      expect(inside.seen).toContain('GET /.well-known/openid-configuration');
    },
  );

  proves(
    'vmcp.config-incoming.oidc-protected-resource-allow-private-ip',
    'is reached with either setting',
    async () => {
      await using idp = await identityProvider();
      await using gateway = await oidcGateway(idp, {
        jwksAllowPrivateIp: false,
        protectedResourceAllowPrivateIp: true,
      });
      expect(await gateway.status(idp.sign({ sub: 'ada', aud: AUDIENCE }))).toBe(200);
    },
  );

  proves(
    'choice.remote.redirects',
    'cannot send the gateway inside by a redirect of its document or its keys',
    async () => {
      await using inside = await loopbackServer((_request, response) => response.end('{"keys":[]}'));
      for (const redirected of ['/.well-known/openid-configuration', '/jwks']) {
        await using outside = await loopbackServer((request, response) => {
          if (request.url === redirected) return response.writeHead(302, { location: inside.url }).end();
          response.end(JSON.stringify({ issuer: outside.url, jwks_uri: `${outside.url}/jwks` }));
        });
        await using gateway = await oidcGateway({ issuer: outside.url });
        expect(await gateway.status(signedAs(outside.url))).toBe(503);
        expect(gateway.kit.logged.join()).toContain('answered with a redirect (status 302), which is not followed');
      }
      expect(inside.seen).toEqual([]);
    },
  );

  it('cannot do so through its metadata document either', async () => {
    await using inside = await loopbackServer((_request, response) => response.end('{"keys":[]}'));
    await using outside = await loopbackServer((_request, response) => {
      response.end(JSON.stringify({ issuer: outside.url, jwks_uri: 'file:///etc/passwd' }));
    });
    await using gateway = await oidcGateway({ issuer: outside.url });
    expect(await gateway.status(signedAs(outside.url))).toBe(503);
    expect(gateway.kit.logged.join()).toContain('expected a URL that starts with https://');
    expect(inside.seen).toEqual([]);
  });
});

describe('a provider with invalid responses', () => {
  it('with endless keys, a truncated document, no keys or secret keys: every token is refused', async () => {
    const oct = { kty: 'oct', k: Buffer.from('shared').toString('base64url'), kid: 'a', alg: 'HS256', use: 'sig' };
    const leaked = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const secret = { ...leaked.privateKey.export({ format: 'jwk' }), kid: 'b', alg: 'ES256' };
    const bodies = [
      '{"keys":[',
      '[]',
      '{}',
      '{"keys":{}}',
      '{"keys":[null,1,"x",{"kty":["RSA"]}]}',
      JSON.stringify({ keys: [oct] }),
      JSON.stringify({ keys: [secret] }),
      JSON.stringify({ keys: Array.from({ length: 5000 }, () => ({ ...oct, ballast: 'x'.repeat(100) })) }),
    ];
    for (const body of bodies) {
      await using keys = await loopbackServer((_request, response) => response.end(body));
      await using gateway = await oidcGateway({ issuer: keys.url }, { jwksUrl: `${keys.url}/jwks` });
      const text = `${base64url({ alg: 'HS256', kid: 'a' })}.${base64url(claimsOf(keys.url))}`;
      const byShared = `${text}.${createHmac('sha256', 'shared').update(text).digest('base64url')}`;
      const byLeaked = signedJwt({ alg: 'ES256', kid: 'b' }, claimsOf(keys.url), leaked.privateKey);
      const statuses = [await gateway.status(byShared), await gateway.status(byLeaked)];
      expect([body.slice(0, 40), ...statuses]).toEqual([body.slice(0, 40), 401, 503]);
    }
  });

  it('has its valid keys used when it publishes invalid ones too', async () => {
    await using idp = await identityProvider();
    const [good] = idp.publicKeys();
    const jwk = { ...good?.key.export({ format: 'jwk' }), kid: good?.kid, alg: 'ES256' };
    await using keys = await loopbackServer((_request, response) => {
      response.end(JSON.stringify({ keys: [null, { kty: 'EC', kid: good?.kid, crv: 'P-512' }, { kty: 'RSA' }, jwk] }));
    });
    await using gateway = await oidcGateway(idp, { jwksUrl: keys.url });
    expect(await gateway.status(idp.sign({ sub: 'ada', aud: AUDIENCE }))).toBe(200);
  });

  it('is waited for five seconds, with one request for all callers', async () => {
    await using silent = await loopbackServer(() => {});
    await using gateway = await oidcGateway({ issuer: silent.url });
    const startedMs = performance.now();
    const statuses = await Promise.all([1, 2, 3].map(() => gateway.status(signedAs(silent.url))));
    expect(statuses).toEqual([503, 503, 503]);
    expect(performance.now() - startedMs).toBeLessThan(15_000);
    expect(silent.seen).toHaveLength(1);
    const againMs = performance.now();
    expect(await gateway.status(signedAs(silent.url))).toBe(503);
    expect(performance.now() - againMs).toBeLessThan(4_000); // refused immediately, without another wait
  });
});

const CLOSE_BY = {
  issuer: 'https://issuer.example',
  clientId: 'gateway',
  audience: AUDIENCE,
  insecureAllowHttp: true,
  jwksAllowPrivateIp: true,
} as const;

describe('introspection with unexpected responses', () => {
  const ask = async (answer: object | string, status = 200) => {
    await using server = await loopbackServer((_request, response) => {
      response.writeHead(status).end(typeof answer === 'string' ? answer : JSON.stringify(answer));
    });
    await using gateway = await oidcGateway(
      { issuer: 'https://issuer.example' },
      { introspectionUrl: server.url, jwksUrl: `${server.url}/none` },
    );
    const reply = await gateway.ask('Bearer opaque-token-of-ada');
    return [reply.status, reply.json.error?.message];
  };
  const good = { active: true, sub: 'ada', aud: AUDIENCE, exp: Date.now() / 1000 + 60 };

  it('admits only tokens that are active, have this gateway as audience and a subject', async () => {
    expect((await ask(good))[0]).toBe(200);
    expect((await ask({ ...good, aud: ['x', AUDIENCE], iss: 'https://issuer.example/' }))[0]).toBe(200);
    const cases: readonly [object, string][] = [
      [{ ...good, active: false }, 'not active'],
      [{ ...good, active: 'true' }, 'not active'],
      [{ ...good, active: 1 }, 'not active'],
      [{}, 'not active'],
      [{ ...good, aud: undefined }, 'another audience'],
      [{ ...good, aud: 'https://other.example' }, 'another audience'],
      [{ ...good, aud: { [AUDIENCE]: true } }, 'another audience'],
      [{ ...good, iss: 'https://evil.example' }, 'another issuer'],
      [{ ...good, iss: 7 }, 'another issuer'],
      [{ ...good, exp: Date.now() / 1000 - 3600 }, 'expired'],
      [{ ...good, exp: 'soon' }, 'claim'],
      [{ ...good, nbf: Date.now() / 1000 + 3600 }, 'not valid yet'],
      [{ ...good, sub: undefined }, 'claim'],
      [{ ...good, cnf: { jkt: 'x' } }, 'bound to a key'],
    ];
    for (const [answer, words] of cases) {
      expect([answer, ...(await ask(answer))]).toEqual([answer, 401, expect.stringContaining(words)]);
    }
  });

  proves(
    'choice.oidc.underway',
    'cannot make the gateway wait for more than 256 answers, 128 of a network',
    async () => {
      const held: (() => void)[] = [];
      await using server = await loopbackServer((_request, response) => {
        held.push(() => response.end(JSON.stringify(good)));
        if (isReleased) release();
      });
      let isReleased = false;
      const release = (): void => {
        isReleased = true;
        for (const answer of held.splice(0)) answer();
      };
      const core = await bootPlugin(oidc, {
        ...CLOSE_BY,
        introspectionUrl: server.url,
        jwksUrl: `${server.url}/none`,
      });
      core.clock.nowMs = Date.now();
      const refused: string[] = [];
      const askFrom = (address: string) =>
        Array.from({ length: 150 }, async (_, index) => {
          const answer = await core.hooks.authenticate.promise(
            inboundWith(`Bearer opaque-${address.replaceAll(':', '.')}-${index}`, address),
          );
          if (answer !== undefined && 'refused' in answer && answer.status === 503) refused.push(address);
          return answer;
        });
      const asked = ['10.0.0.1', '2001:db8::1', '2001:db8::2', '10.0.0.2'].flatMap(askFrom);
      await until(() => refused.length === 600 - 256);
      release();
      const answers = await Promise.all(asked);
      const refusedOf = (address: string) => refused.filter((each) => each === address).length;
      // the two IPv6 addresses are of one network
      expect([refusedOf('10.0.0.1'), refusedOf('2001:db8::1') + refusedOf('2001:db8::2')]).toEqual([22, 172]);
      expect(answers.filter((answer) => answer !== undefined && 'subject' in answer)).toHaveLength(256);
      await core.hooks.stopping.promise();
    },
  );

  proves('choice.oidc.jwt-apart', 'holds up no JWT, however many opaque tokens wait for it', async () => {
    await using idp = await identityProvider();
    const rubbish: (() => void)[] = [];
    let isReleased = false;
    await using silent = await loopbackServer((_request, response) => {
      if (isReleased) response.end('{}');
      else rubbish.push(() => response.end('{}'));
    });
    const core = await bootPlugin(oidc, { ...CLOSE_BY, issuer: idp.issuer, introspectionUrl: silent.url });
    core.clock.nowMs = Date.now();
    const judge = (token: string) => core.hooks.authenticate.promise(inboundWith(`Bearer ${token}`, '10.0.0.1'));
    await judge(idp.sign({ sub: 'first', aud: AUDIENCE })); // the keys are there
    const asked = Array.from({ length: 400 }, (_, index) => judge(`rubbish-${index}`));
    await until(() => rubbish.length > 0);
    for (let n = 0; n < 20; n++) {
      expect(await judge(idp.sign({ sub: `user-${n}`, aud: AUDIENCE }))).toMatchObject({ subject: `user-${n}` });
    }
    isReleased = true;
    for (const answer of rubbish) answer();
    for (const answer of await Promise.all(asked)) expect(answer).toMatchObject({ refused: true });
    await core.hooks.stopping.promise();
  });

  it('delays no JWT of a known key while others name keys that it publishes slowly', async () => {
    await using idp = await identityProvider();
    let isSlow = false;
    const waiting: (() => void)[] = [];
    await using keys = await loopbackServer(async (_request, response) => {
      const set = await (await fetch(`${idp.issuer}/jwks`)).text();
      if (isSlow) waiting.push(() => response.end(set));
      else response.end(set);
    });
    const core = await bootPlugin(oidc, { ...CLOSE_BY, issuer: idp.issuer, jwksUrl: `${keys.url}/jwks` });
    const times = { exp: core.clock.nowMs / 1000 + 3600 };
    const judge = (token: string) => core.hooks.authenticate.promise(inboundWith(`Bearer ${token}`, '10.0.0.1'));
    await judge(idp.sign({ sub: 'first', aud: AUDIENCE, ...times }));
    isSlow = true;
    core.clock.nowMs += 20_000; // the pause after the first fetch is over
    const forged = Array.from({ length: 600 }, (_, index) =>
      judge(idp.sign({ sub: 'eve', aud: AUDIENCE, ...times }, { kid: `none-${index}` })),
    );
    await until(() => waiting.length === 1);
    expect(await judge(idp.sign({ sub: 'ada', aud: AUDIENCE, ...times }))).toMatchObject({ subject: 'ada' });
    for (const answer of waiting) answer();
    const outcomes = await Promise.all(forged);
    const statuses = outcomes.map((each) => (each !== undefined && 'refused' in each ? each.status : 200));
    expect(statuses.filter((status) => status === 401)).toHaveLength(512);
    expect(statuses.filter((status) => status === 503)).toHaveLength(88);
    await core.hooks.stopping.promise();
  });

  proves(
    'choice.oidc.introspection-400',
    'refuses the token with status 400, except when it rejects the credentials of the gateway',
    async () => {
      const rejected = [401, 'the identity provider does not take the token'];
      for (const body of ['', 'no', '[]', { error: 'invalid_request' }, { error: 'invalid_token' }, { ...good }]) {
        expect([body, ...(await ask(body, 400))]).toEqual([body, ...rejected]);
      }
      for (const error of ['invalid_client', 'unauthorized_client']) {
        expect([error, (await ask({ error }, 400))[0]]).toEqual([error, 503]);
      }
    },
  );

  it('is ignored when it is truncated, too large, a redirect or an error', async () => {
    for (const [answer, status] of [
      ['{"active":tr', 200],
      ['[true]', 200],
      [JSON.stringify({ ...good, ballast: 'x'.repeat(300_000) }), 200],
      [good, 302],
      [good, 500],
      [good, 401],
      [good, 404],
    ] as const) {
      expect((await ask(answer, status))[0]).toBe(503);
    }
  });
});

/** Looks like a token of the issuer; the keys decide that it is none. */
function signedAs(issuer: string): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return signedJwt({ alg: 'ES256', kid: 'a' }, claimsOf(issuer), privateKey);
}

function inboundWith(authorization: string, remoteAddress = '127.0.0.1') {
  return {
    method: 'POST',
    path: '/mcp',
    headers: { authorization },
    remoteAddress,
    signal: new AbortController().signal,
  };
}
