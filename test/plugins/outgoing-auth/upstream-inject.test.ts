import { fakeClock } from '@toolmgr/core/testing';
import { secretOf } from '@toolmgr/plugins/kit/secrets';
import { describe, expect, it } from 'vitest';
import { createUpstreamInject } from '../../../plugins/outgoing-auth/upstream-inject/strategy.ts';
import { callerOf } from '../../support/accounts.ts';
import { authServerSlots, GATEWAY, headersOf, requestTo } from '../../support/outgoing-auth.ts';
import { pluginCore } from '../../support/plugin-core.ts';
import { proves } from '../../support/proves.ts';

const HOUR_MS = 3_600_000;

async function prepared(providerName = 'idp', over: Parameters<typeof authServerSlots>[0] = {}) {
  const test = await authServerSlots(over);
  const { lines, log } = pluginCore();
  const authorizer = await createUpstreamInject({ slot: test.slot, log, now: test.clock.now }).prepare(
    { providerName },
    'outgoingAuth.default',
  );
  return { ...test, authorizer, lines };
}

describe('upstream_inject', () => {
  proves(
    'vmcp.upstream-inject.provider-name',
    "sends each caller's own access token of the named provider",
    async () => {
      const { authorizer, ada, bob } = await prepared();
      expect(await headersOf(authorizer, ada)).toEqual({ authorization: 'Bearer access.idp.ada.1' });
      expect(await headersOf(authorizer, bob)).toEqual({ authorization: 'Bearer access.idp.bob.2' });
    },
  );

  it('sends the token in another header when the options name one', async () => {
    const { slot, log, ada } = { ...(await authServerSlots()), log: pluginCore().log };
    const strategy = createUpstreamInject({ slot, log, now: Date.now });
    const authorizer = await strategy.prepare({ providerName: 'idp', headerName: 'X-Upstream-Token' }, 'x');
    expect(await headersOf(authorizer, ada)).toEqual({ 'x-upstream-token': 'Bearer access.idp.ada.1' });
    expect(authorizer.headerNames).toEqual(['x-upstream-token']);
    await expect(strategy.prepare({ providerName: 'idp', headerName: 'Host' }, 'x')).rejects.toThrow('x.headerName');
  });

  it('does not wait while the token is known', async () => {
    const { authorizer, ada } = await prepared();
    await headersOf(authorizer, ada);
    const request = requestTo('far');
    const applied = authorizer.apply(request, { caller: ada, purpose: 'call', signal: new AbortController().signal });
    expect(applied).toBeUndefined();
    expect(request.headers.authorization).toBe('Bearer access.idp.ada.1');
  });

  proves(
    'vmcp.upstream-inject.provider-name',
    'refuses an unknown provider at the start, with the nearest name',
    async () => {
      await expect(prepared('gihub')).rejects.toThrow(
        'outgoingAuth.default.providerName: no upstream provider is named "gihub", did you mean "github"?',
      );
      await expect(prepared('')).rejects.toThrow('expected the name of an upstream provider');
      const { slot, log } = pluginCore();
      await expect(
        createUpstreamInject({ slot, log, now: Date.now }).prepare({ providerName: 'idp' }, 'x'),
      ).rejects.toThrow('x.providerName: names an upstream provider, and there is no authorization server');
      await expect(createUpstreamInject({ slot, log, now: Date.now }).prepare({}, 'x')).rejects.toThrow(
        'x.providerName',
      );
    },
  );

  it('adds no credential to requests of the gateway itself, whose lists are then read per caller', async () => {
    const { authorizer } = await prepared();
    expect(await headersOf(authorizer, GATEWAY, { purpose: 'discovery' })).toEqual({});
    expect(authorizer.perCaller).toBe(true);
  });

  it('refuses callers without a sign-in here, and sends people to the provider that they have not connected', async () => {
    const { authorizer, slot, ada } = await prepared();
    await expect(headersOf(authorizer, GATEWAY)).rejects.toThrow('anonymous');
    await expect(headersOf(authorizer, callerOf(ada.subject, undefined))).rejects.toThrow('no claim tsid');
    const github = await createUpstreamInject({ slot, log: pluginCore().log, now: Date.now }).prepare(
      { providerName: 'github' },
      'x',
    );
    await expect(headersOf(github, ada)).rejects.toMatchObject({ code: 'USER_ACTION_REQUIRED' });
  });

  it('sends the refreshed token in a session that was opened with an older one', async () => {
    const { authorizer, ada, clock, idp } = await prepared();
    await headersOf(authorizer, ada, { purpose: 'session' });
    clock.advance(HOUR_MS);
    expect(await headersOf(authorizer, ada)).toEqual({ authorization: 'Bearer access.idp.ada.3' });
    expect(idp.refreshes).toHaveLength(1);
  });

  it('renews a token that the backend refused, once', async () => {
    const { authorizer, ada, clock } = await prepared();
    const { backend } = requestTo('far');
    await headersOf(authorizer, ada);
    clock.advance(10_000);
    expect(authorizer.refused?.(backend, ada)).toBe(true);
    expect(await headersOf(authorizer, ada)).toEqual({ authorization: 'Bearer access.idp.ada.3' });
    clock.advance(10_000);
    expect(authorizer.refused?.(backend, ada)).toBe(false);
  });

  it('leads to a new sign-in when a backend refuses a token that cannot be refreshed, for this backend only', async () => {
    let accessToken = secretOf('t1');
    const issuedMs = fakeClock().now();
    const { authorizer, ada, bob, clock } = await prepared('idp', {
      known: () => ({ accessToken, issuedMs, expiresMs: undefined, claims: {} }),
      obtain: async () => ({ accessToken, issuedMs, expiresMs: undefined, claims: {} }),
      refused: () => false,
    });
    const { backend } = requestTo('far');
    expect(authorizer.refused?.(backend, ada)).toBe(false); // the token is new: another one would not help
    clock.advance(10 * 60_000);
    expect(authorizer.refused?.(backend, ada)).toBe(true);
    await expect(headersOf(authorizer, ada)).rejects.toMatchObject({
      code: 'USER_ACTION_REQUIRED',
      message: 'sign in at idp again',
      url: expect.stringContaining('/oauth/connect?ticket='),
    });
    expect(await headersOf(authorizer, ada, { backend: 'other' })).toEqual({ authorization: 'Bearer t1' });
    expect(await headersOf(authorizer, bob)).toEqual({ authorization: 'Bearer t1' });
    accessToken = secretOf('t2');
    expect(await headersOf(authorizer, ada)).toEqual({ authorization: 'Bearer t2' });
  });

  it('sends no token that would break the header', async () => {
    for (const text of ['a\r\nx-admin: 1', 'a b', '', 'a'.repeat(20_000)]) {
      const token = { accessToken: secretOf(text), issuedMs: 0, expiresMs: undefined, claims: {} };
      const { authorizer, ada } = await prepared('idp', { known: () => token });
      await expect(headersOf(authorizer, ada)).rejects.toThrow('is not a valid header value');
    }
  });

  proves(
    'vmcp.auth-server.disable-upstream-token-injection-unauthenticated',
    'adds nothing with disableUpstreamTokenInjection, and a warning says so',
    async () => {
      const { authorizer, ada, lines } = await prepared('idp', { isInjectionDisabled: true });
      expect(await headersOf(authorizer, ada)).toEqual({});
      expect(lines).toEqual([
        expect.objectContaining({ level: 'warn', message: expect.stringContaining('disableUpstreamTokenInjection') }),
      ]);
    },
  );
});

describe('attacks on upstream_inject', () => {
  it('a thousand calls of two callers never get the token of the other one', async () => {
    const { authorizer, ada, bob, clock } = await prepared();
    clock.advance(HOUR_MS);
    const headers = await Promise.all(
      Array.from({ length: 1000 }, (_, at) => headersOf(authorizer, at % 2 === 0 ? ada : bob)),
    );
    headers.forEach(({ authorization }, at) => {
      expect(authorization).toContain(at % 2 === 0 ? 'Bearer access.idp.ada' : 'Bearer access.idp.bob');
    });
  });
});
