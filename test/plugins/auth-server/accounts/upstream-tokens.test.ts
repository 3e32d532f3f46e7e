import { GatewayFault, UserActionRequired } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { STALE_MS } from '../../../../plugins/auth-server/accounts/recent-rows.ts';
import { UpstreamRefusal } from '../../../../plugins/auth-server/upstreams/upstream.ts';
import { accountsOnMemory, callerOf, NEVER, signedIn } from '../../../support/accounts.ts';

const HOUR_MS = 3_600_000;

describe('upstream tokens', () => {
  it('are read once, and known without waiting for a few seconds', async () => {
    const test = accountsOnMemory();
    const { caller } = await signedIn(test, test.idp);
    expect(test.upstreamTokens.known(caller, 'idp')).toBeUndefined();
    const obtained = await test.upstreamTokens.obtain(caller, 'idp', NEVER);
    expect(obtained.accessToken.reveal()).toBe('access.idp.ada.1');
    expect(obtained.claims).toEqual({ sub: 'ada' });
    expect(test.upstreamTokens.known(caller, 'idp')).toBe(obtained);
    test.clock.advance(STALE_MS);
    expect(test.upstreamTokens.known(caller, 'idp')).toBeUndefined();
  });

  it('are refreshed when they end soon, and the new ones are stored', async () => {
    const test = accountsOnMemory();
    const { caller } = await signedIn(test, test.idp);
    test.clock.advance(HOUR_MS - 30_000);
    expect((await test.upstreamTokens.obtain(caller, 'idp', NEVER)).accessToken.reveal()).toBe('access.idp.ada.2');
    expect((await test.replica().upstreamTokens.obtain(caller, 'idp', NEVER)).accessToken.reveal()).toBe(
      'access.idp.ada.2',
    );
    expect(test.idp.refreshes).toEqual(['refresh.idp.ada.1']);
  });

  it('that end never are not refreshed', async () => {
    const test = accountsOnMemory('endless');
    const { caller } = await signedIn(test, test.idp);
    test.clock.advance(24 * HOUR_MS - 1);
    await test.upstreamTokens.obtain(caller, 'idp', NEVER);
    expect(test.idp.refreshes).toEqual([]);
  });

  it('of a provider that is not connected need the person, only for that provider', async () => {
    const test = accountsOnMemory();
    const { person, caller } = await signedIn(test, test.idp);
    const obtaining = test.upstreamTokens.obtain(caller, 'github', NEVER);
    await expect(obtaining).rejects.toThrow(UserActionRequired);
    await expect(obtaining).rejects.toMatchObject({
      message: 'connect your account at github',
      url: `https://gateway.example/oauth/connect?ticket=${person}.github`,
    });
    await test.accounts.connect(person, 'github', test.github.grant('ada-at-github'));
    expect((await test.upstreamTokens.obtain(caller, 'github', NEVER)).claims).toEqual({ sub: 'ada-at-github' });
    await test.upstreamTokens.obtain(caller, 'idp', NEVER);
  });

  it('name the nearest provider for an unknown one', async () => {
    const test = accountsOnMemory();
    const { caller } = await signedIn(test, test.idp);
    await expect(test.upstreamTokens.obtain(caller, 'gihub', NEVER)).rejects.toThrow(
      'there is no upstream provider "gihub", did you mean "github"?',
    );
  });

  it('whose refresh token is refused need the person; a token that is still valid is used until it ends', async () => {
    const test = accountsOnMemory();
    const { caller, person } = await signedIn(test, test.idp);
    test.idp.next.before = async () => {
      throw new UpstreamRefusal('idp', 'invalid_grant', 'no');
    };
    test.clock.advance(HOUR_MS - 20_000);
    expect((await test.upstreamTokens.obtain(caller, 'idp', NEVER)).accessToken.reveal()).toBe('access.idp.ada.1');
    expect(test.upstreamTokens.known(caller, 'idp')).toBeDefined();
    test.clock.advance(20_000);
    expect(test.upstreamTokens.known(caller, 'idp')).toBeUndefined();
    await expect(test.upstreamTokens.obtain(caller, 'idp', NEVER)).rejects.toThrow('sign in at idp again');
    expect(test.idp.refreshes).toHaveLength(1);
    expect(await test.accounts.connections(person)).toEqual([
      expect.objectContaining({ isUsable: false, isRefreshable: false }),
    ]);
  });

  it('stay usable while the provider is away, and are requested again a few seconds later', async () => {
    const test = accountsOnMemory();
    const { caller } = await signedIn(test, test.idp);
    test.idp.next.before = async () => {
      throw new GatewayFault('REMOTE_UNAVAILABLE', 'the provider is away');
    };
    test.clock.advance(HOUR_MS - 20_000);
    for (let call = 0; call < 3; call++) {
      expect((await test.upstreamTokens.obtain(caller, 'idp', NEVER)).accessToken.reveal()).toBe('access.idp.ada.1');
    }
    expect(test.idp.refreshes).toHaveLength(1);
    test.clock.advance(20_000);
    const late = test.upstreamTokens.obtain(caller, 'idp', NEVER);
    await expect(late).rejects.toMatchObject({ code: 'REMOTE_UNAVAILABLE' });
    await expect(late).rejects.not.toThrow(UserActionRequired);
    test.idp.next = {};
    test.clock.advance(5_000);
    expect((await test.upstreamTokens.obtain(caller, 'idp', NEVER)).accessToken.reveal()).toBe('access.idp.ada.2');
    expect(test.core.lines.filter(({ level }) => level === 'warn')).toHaveLength(2);
  });

  it('are kept when the provider refuses the client of the gateway, not the person', async () => {
    const test = accountsOnMemory();
    const { caller } = await signedIn(test, test.idp);
    test.clock.advance(HOUR_MS);
    test.idp.next.before = async () => {
      throw new UpstreamRefusal('idp', 'invalid_client', 'the secret is wrong');
    };
    await expect(test.upstreamTokens.obtain(caller, 'idp', NEVER)).rejects.toMatchObject({
      code: 'REMOTE_UNAVAILABLE',
    });
    test.idp.next = {};
    test.clock.advance(5_000);
    await test.upstreamTokens.obtain(caller, 'idp', NEVER);
  });

  it('are refreshed once after a backend refused them, and then not for a minute', async () => {
    const test = accountsOnMemory();
    const { caller } = await signedIn(test, test.idp);
    const { upstreamTokens, clock } = test;
    expect(upstreamTokens.refused(caller, 'idp')).toBe(false); // it was never used
    clock.advance(10_000);
    await upstreamTokens.obtain(caller, 'idp', NEVER);
    expect(upstreamTokens.refused(caller, 'idp')).toBe(true);
    expect(upstreamTokens.known(caller, 'idp')).toBeUndefined();
    expect((await upstreamTokens.obtain(caller, 'idp', NEVER)).accessToken.reveal()).toBe('access.idp.ada.2');
    expect(upstreamTokens.refused(caller, 'idp')).toBe(true); // of a call that used the first token
    expect((await upstreamTokens.obtain(caller, 'idp', NEVER)).accessToken.reveal()).toBe('access.idp.ada.2');
    clock.advance(10_000);
    await upstreamTokens.obtain(caller, 'idp', NEVER);
    expect(upstreamTokens.refused(caller, 'idp')).toBe(false);
    clock.advance(60_000);
    await upstreamTokens.obtain(caller, 'idp', NEVER);
    expect(upstreamTokens.refused(caller, 'idp')).toBe(true);
    expect(test.idp.refreshes).toHaveLength(1);
  });

  it('without a refresh token cannot be renewed after a refusal', async () => {
    const test = accountsOnMemory();
    const { caller, person } = await signedIn(test, test.idp);
    await test.accounts.connect(person, 'github', test.github.grant('ada', { refreshToken: true }));
    test.clock.advance(10_000);
    await test.upstreamTokens.obtain(caller, 'github', NEVER);
    expect(test.upstreamTokens.refused(caller, 'github')).toBe(false);
  });

  it('are given up by the signal of one caller, while the refresh finishes for the others', async () => {
    const test = accountsOnMemory();
    const { caller } = await signedIn(test, test.idp);
    test.clock.advance(HOUR_MS);
    const { promise, resolve } = Promise.withResolvers<void>();
    test.idp.next.before = () => promise;
    const giving = new AbortController();
    const given = test.upstreamTokens.obtain(caller, 'idp', giving.signal);
    const waiting = test.upstreamTokens.obtain(caller, 'idp', NEVER);
    giving.abort(new Error('the client left'));
    await expect(given).rejects.toThrow('the client left');
    resolve();
    expect((await waiting).accessToken.reveal()).toBe('access.idp.ada.2');
  });
});

describe('ID tokens', () => {
  const jwt = (iatMs: number, expMs: number): string => {
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    return `${part({ alg: 'none' })}.${part({ iat: iatMs / 1000, exp: expMs / 1000 })}.x`;
  };
  const secret = (text: string) => ({ reveal: () => text });

  it('are refreshed by their own end when they are needed, once for each', async () => {
    const test = accountsOnMemory();
    const { caller, person } = await signedIn(test, test.idp);
    const { identity, tokens } = test.idp.grant('ada');
    const short = jwt(test.clock.now(), test.clock.now() + 600_000);
    await test.accounts.connect(person, 'idp', { identity, tokens: { ...tokens, idToken: secret(short) } });
    test.clock.advance(600_000);
    await test.upstreamTokens.obtain(caller, 'idp', NEVER);
    expect(test.idp.refreshes).toEqual([]);
    const refresh = test.idp.refresh;
    test.idp.refresh = async (before, signal) => {
      const { tokens: after, check } = await refresh(before, signal);
      return { tokens: { ...after, idToken: before.idToken }, check }; // the provider returns no new one
    };
    await expect(test.upstreamTokens.obtain(caller, 'idp', NEVER, 'idToken')).rejects.toThrow('sign in at idp again');
    await expect(test.upstreamTokens.obtain(caller, 'idp', NEVER, 'idToken')).rejects.toThrow(UserActionRequired);
    expect(test.idp.refreshes).toHaveLength(1);
    await test.upstreamTokens.obtain(caller, 'idp', NEVER);
  });
});

describe('callers without a sign-in of their own', () => {
  it.each([
    [
      'of another issuer with the same subject and session',
      'https://other.example',
      {},
      'signed in at https://gateway.example',
    ],
    ['without tsid', undefined, { tsid: undefined }, 'has no claim tsid'],
    ['with a tsid that is no text', undefined, { tsid: 7 }, 'not texts'],
    ['that are anonymous', '', {}, 'is anonymous'],
  ])('%s get nothing', async (_name, issuer, more, message) => {
    const test = accountsOnMemory();
    const { caller, person } = await signedIn(test, test.idp);
    await test.upstreamTokens.obtain(caller, 'idp', NEVER);
    const claims = { ...caller.claims, ...more } as typeof caller.claims;
    const foreign = { ...callerOf(person, undefined, {}, issuer), claims };
    expect(test.upstreamTokens.known(foreign, 'idp')).toBeUndefined();
    const obtaining = test.upstreamTokens.obtain(foreign, 'idp', NEVER);
    await expect(obtaining).rejects.toThrow(message);
    await expect(obtaining).rejects.toMatchObject({ code: 'AUTH_STRATEGY_REFUSED' });
    expect(test.upstreamTokens.refused(foreign, 'idp')).toBe(false);
  });
});
