import type { Caller } from '@toolmgr/core';
import type { UpstreamTokens } from '@toolmgr/plugins/kit/extension-points';
import { jwtClaims } from '@toolmgr/plugins/kit/oauth/settings';
import { secretOf } from '@toolmgr/plugins/kit/secrets';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createObo } from '../../../plugins/outgoing-auth/obo/strategy.ts';
import { CLIENTS } from '../../support/identity-provider.ts';
import { BACKEND_APP, GATEWAY_APP, onBehalfOfProvider } from '../../support/on-behalf-of.ts';
import { authServerSlots, GATEWAY, headersOf, requestTo } from '../../support/outgoing-auth.ts';
import { pluginCore } from '../../support/plugin-core.ts';
import { proves } from '../../support/proves.ts';

const CLIENT = { clientId: CLIENTS.gateway.id, clientSecretEnv: 'SECRET' };

/** The strategy before a real provider; `send` returns the claims of the token that a backend got. */
async function prepared(options: object = {}, over: Partial<UpstreamTokens> = {}) {
  const entra = await onBehalfOfProvider();
  const test = await authServerSlots(over, { SECRET: CLIENTS.gateway.secret });
  const core = pluginCore();
  const strategy = createObo(
    { slots: test.slots, slot: test.slot, log: core.log, now: () => Date.now() + offset },
    true,
  );
  let offset = 0;
  onTestFinished(async () => {
    await strategy.close();
    await entra[Symbol.asyncDispose]();
  });
  const authorizer = await strategy.prepare(
    { tokenUrl: entra.tokenUrl, ...CLIENT, ...options },
    'outgoingAuth.default',
  );
  const send = async (caller: Caller) => {
    const { authorization = '' } = await headersOf(authorizer, caller);
    return jwtClaims(secretOf(authorization.replace('Bearer ', '')));
  };
  const callerWith = async (user: string, audience = GATEWAY_APP): Promise<Caller> => {
    const token = secretOf(await entra.provider.userToken(user, audience));
    return { issuer: entra.provider.issuer, subject: user, key: user, claims: jwtClaims(token) ?? {}, token };
  };
  const pass = (ms: number): void => {
    offset += ms;
  };
  return { ...test, entra, authorizer, send, callerWith, pass, lines: core.lines };
}

describe('obo', () => {
  proves('vmcp.obo.enterprise-required', 'is refused as enterprise-required, unless the plugin allows it', async () => {
    const { slots, slot, log, now } = pluginCore();
    const options = { tokenUrl: 'https://login.example.com/token' };
    const strategy = createObo({ slots, slot, log, now }, false);
    await expect(strategy.prepare(options, 'outgoingAuth.default')).rejects.toThrow(
      'outgoingAuth.default: obo is refused as enterprise-required',
    );
    await createObo({ slots, slot, log, now }, true).prepare(options, 'outgoingAuth.default');
  });

  proves(
    ['vmcp.obo.token-url', 'vmcp.obo.strings'],
    'gets a token for the backend in the name of the caller, with the client and the scopes',
    async () => {
      const { entra, send, callerWith } = await prepared({ audience: BACKEND_APP, scopes: ['api/read', 'api/write'] });
      expect(await send(await callerWith('ada'))).toMatchObject({ oid: 'ada', aud: BACKEND_APP });
      expect(await send(await callerWith('bob'))).toMatchObject({ oid: 'bob' });
      expect(entra.forms[0]).toMatchObject({
        requested_token_use: 'on_behalf_of',
        scope: 'api/read api/write',
        audience: BACKEND_APP,
      });
      const defaults = await prepared({ audience: BACKEND_APP });
      await defaults.send(await defaults.callerWith('ada'));
      expect(defaults.entra.forms[0]?.scope).toBe(`${BACKEND_APP}/.default`);
    },
  );

  proves(
    'vmcp.obo.subject-token-provider-name',
    'takes the token of the request, also beside an authorization server, and that of the named provider instead',
    async () => {
      const own = await prepared();
      const caller = await own.callerWith('ada');
      await own.send(caller);
      expect(own.entra.forms[0]?.assertion).toBe(caller.token?.reveal());

      let upstream = secretOf('');
      const named = await prepared(
        { subjectTokenProviderName: 'github' },
        { known: () => ({ accessToken: upstream, issuedMs: 0, expiresMs: undefined, claims: {} }) },
      );
      upstream = (await named.callerWith('bob')).token ?? upstream;
      expect(await named.send(named.ada)).toMatchObject({ oid: 'bob' });
      await expect(prepared({ subjectTokenProviderName: 'gitub' })).rejects.toThrow('did you mean "github"?');
    },
  );

  proves('vmcp.obo.cache-skew-seconds', 'caches tokens, cacheSkewSeconds less than they live', async () => {
    for (const [cacheSkewSeconds, minutes] of [
      [0, 59],
      [1800, 29],
    ] as const) {
      const { entra, send, callerWith, pass } = await prepared({ cacheSkewSeconds });
      const ada = await callerWith('ada');
      for (let call = 0; call < 3; call++) await send(ada);
      pass((minutes - 1) * 60_000);
      await send(ada);
      expect(entra.forms).toHaveLength(1);
      pass(2 * 60_000);
      await send(ada).catch(() => undefined);
      expect(entra.provider.seen.filter((line) => line === 'POST /token')).toHaveLength(2);
    }
  });

  it('refuses a caller whose token the endpoint refuses, without its text, and remembers that for a moment', async () => {
    const { entra, send, callerWith } = await prepared();
    const foreign = await callerWith('ada', 'https://other.internal');
    for (let call = 0; call < 3; call++) {
      await expect(send(foreign)).rejects.toMatchObject({
        code: 'AUTH_STRATEGY_REFUSED',
        message: expect.not.stringContaining('assertion is invalid'),
      });
    }
    expect(entra.provider.seen.filter((line) => line === 'POST /token')).toHaveLength(1);
  });

  it('requests anew after a 401, and nothing for the gateway itself', async () => {
    const { entra, authorizer, send, callerWith, pass } = await prepared();
    const ada = await callerWith('ada');
    await send(ada);
    pass(10_000);
    expect(authorizer.refused?.(requestTo('far').backend, ada)).toBe(true);
    await send(ada);
    expect(entra.forms).toHaveLength(2);
    expect(await headersOf(authorizer, GATEWAY, { purpose: 'discovery' })).toEqual({});
  });

  it('adds nothing with disableUpstreamTokenInjection', async () => {
    const { authorizer, callerWith, lines } = await prepared({}, { isInjectionDisabled: true });
    expect(await headersOf(authorizer, await callerWith('ada'))).toEqual({});
    expect(lines).toHaveLength(1);
  });

  it.each([
    [{ clientSecret: 'x' }, 'set only one of clientSecret and clientSecretEnv'],
    [{ clientId: undefined }, 'a client secret needs its clientId'],
    [{ tokenUrl: 'http://idp.example.com/token' }, 'tokenUrl: expected https'],
    [{ tokenUrl: undefined }, 'tokenUrl'],
    [{ cacheSkewSeconds: -1 }, 'cacheSkewSeconds'],
    [{ cacheSkewSeconds: 2_147_483_648 }, 'cacheSkewSeconds'],
    [{ scopes: ['a b'] }, 'expected a scope'],
  ])('refuses %j', async (options, message) => {
    await expect(prepared(options)).rejects.toThrow(message);
  });
});
