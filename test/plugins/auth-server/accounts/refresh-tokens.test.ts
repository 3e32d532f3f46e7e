import { GatewayFault, UserActionRequired } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import type { AuthStorage } from '../../../../plugins/auth-server/storage/storage.ts';
import { UpstreamRefusal } from '../../../../plugins/auth-server/upstreams/upstream.ts';
import { accountsOnMemory, NEVER, signedIn } from '../../../support/accounts.ts';
import { until } from '../../../support/until.ts';

const HOUR_MS = 3_600_000;

/** A signed-in caller whose access token has ended. */
async function expired() {
  const test = accountsOnMemory();
  const { caller, person } = await signedIn(test, test.idp);
  test.clock.advance(HOUR_MS);
  const obtain = async () => (await test.upstreamTokens.obtain(caller, 'idp', NEVER)).accessToken.reveal();
  return { ...test, caller, person, obtain };
}

function outage(): GatewayFault {
  return new GatewayFault('STORE_UNAVAILABLE', 'the storage is away');
}

describe('a refresh', () => {
  it('is one for a thousand calls at once', async () => {
    const { obtain, idp } = await expired();
    const tokens = await Promise.all(Array.from({ length: 1000 }, obtain));
    expect(new Set(tokens)).toEqual(new Set(['access.idp.ada.2']));
    expect(idp.refreshes).toEqual(['refresh.idp.ada.1']);
  });

  it('is one for all sessions of a person on five replicas', async () => {
    const test = await expired();
    const other = await signedIn(test, test.github, 'unused', 'unused');
    await test.accounts.openSession({ id: 'second', person: test.person, clientId: 'c', startedMs: 0 }, HOUR_MS);
    const second = { ...test.caller, claims: { sub: test.person, tsid: 'second' } };
    test.idp.next.before = () => new Promise((resolve) => setTimeout(resolve, 150));
    const replicas = Array.from({ length: 5 }, () => test.replica().upstreamTokens);
    const obtained = await Promise.all(
      replicas.flatMap((tokens) => [test.caller, second].map((caller) => tokens.obtain(caller, 'idp', NEVER))),
    );
    expect(new Set(obtained.map(({ accessToken }) => accessToken.reveal()))).toEqual(new Set(['access.idp.ada.2']));
    expect(test.idp.refreshes).toHaveLength(1);
    expect(other.person).not.toBe(test.person);
  });

  it('stores the new tokens before it checks them', async () => {
    const { obtain, idp, storage, person } = await expired();
    let stored: unknown;
    idp.next.check = async () => {
      stored = (await storage.get(`upstream:${person}:idp`))?.value;
    };
    await obtain();
    expect(stored).toMatchObject({ tokens: { refreshToken: 'refresh.idp.ada.2' }, problem: 'unchecked' });
    expect((await storage.get(`upstream:${person}:idp`))?.value).not.toHaveProperty('problem');
  });

  it('whose check could not finish is repeated with the new refresh token, never with the used one', async () => {
    const { obtain, idp, clock } = await expired();
    idp.next.check = async () => {
      throw new GatewayFault('REMOTE_UNAVAILABLE', 'no keys');
    };
    await expect(obtain()).rejects.toMatchObject({ code: 'REMOTE_UNAVAILABLE' });
    idp.next = {};
    clock.advance(5_000);
    expect(await obtain()).toBe('access.idp.ada.3');
    expect(idp.refreshes).toEqual(['refresh.idp.ada.1', 'refresh.idp.ada.2']);
  });

  it('whose ID token is of another person gives no token, also not from another replica', async () => {
    const { obtain, idp, replica, caller, core } = await expired();
    idp.next.check = async () => {
      throw new UpstreamRefusal('idp', 'invalid_response', 'the ID token is of another person');
    };
    await expect(obtain()).rejects.toThrow(UserActionRequired);
    await expect(replica().upstreamTokens.obtain(caller, 'idp', NEVER)).rejects.toThrow(UserActionRequired);
    expect(idp.refreshes).toHaveLength(1);
    expect(core.lines).toContainEqual(
      expect.objectContaining({ level: 'warn', message: 'refreshed tokens are not used' }),
    );
  });

  it('whose answer was lost after the provider rotated the token needs the person', async () => {
    const { obtain, idp, clock } = await expired();
    idp.next.after = async () => {
      throw new GatewayFault('REMOTE_UNAVAILABLE', 'the connection was reset');
    };
    await expect(obtain()).rejects.toMatchObject({ code: 'REMOTE_UNAVAILABLE' });
    idp.next = {};
    clock.advance(5_000);
    await expect(obtain()).rejects.toThrow(UserActionRequired);
    expect(idp.refreshes).toEqual(['refresh.idp.ada.1', 'refresh.idp.ada.1']);
  });
});

describe('a storage that fails during a refresh', () => {
  /** A storage whose `replace` fails `times` times after the first `replace` began; `applies`: although it wrote. */
  function failing(storage: AuthStorage, times: number, applies = false): AuthStorage {
    let left = times;
    return {
      ...storage,
      async replace(key, ...rest) {
        if (!key.startsWith('upstream:') || left-- <= 0) return storage.replace(key, ...rest);
        if (applies) await storage.replace(key, ...rest);
        throw outage();
      },
    };
  }

  it('twice is overcome', async () => {
    const { replica, storage, caller, idp } = await expired();
    const { upstreamTokens } = replica(failing(storage, 2));
    await upstreamTokens.obtain(caller, 'idp', NEVER);
    expect((await storage.get(`upstream:${caller.subject}:idp`))?.value).toMatchObject({
      tokens: { refreshToken: 'refresh.idp.ada.2' },
    });
    expect(idp.refreshes).toHaveLength(1);
  });

  it('to answer although it wrote is overcome', async () => {
    const { replica, storage, caller, idp } = await expired();
    await replica(failing(storage, 1, true)).upstreamTokens.obtain(caller, 'idp', NEVER);
    expect(idp.refreshes).toHaveLength(1);
    await replica().upstreamTokens.obtain(caller, 'idp', NEVER);
  });

  it('three times costs the row, so that no replica sends a refresh token that is used up', async () => {
    const { replica, storage, caller, person, idp, obtain, core } = await expired();
    const obtaining = replica(failing(storage, 3)).upstreamTokens.obtain(caller, 'idp', NEVER);
    await expect(obtaining).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(await storage.get(`upstream:${person}:idp`)).toBeUndefined();
    await expect(obtain()).rejects.toThrow('connect your account at idp');
    expect(idp.refreshes).toHaveLength(1);
    expect(core.lines.some(({ level }) => level === 'error')).toBe(true);
    expect(JSON.stringify(core.lines)).not.toMatch(/access\.|refresh\./);
  });
});

describe('a refresh at the same time as', () => {
  it('a disconnect brings no row back, and its tokens are revoked', async () => {
    const { obtain, idp, accounts, person, storage } = await expired();
    const { promise, resolve } = Promise.withResolvers<void>();
    idp.next.after = () => promise;
    const obtaining = obtain();
    await until(() => idp.refreshes.length === 1);
    await accounts.disconnect(person, 'idp', NEVER);
    resolve();
    await expect(obtaining).rejects.toThrow('connect your account at idp');
    expect(idp.revoked).toEqual(['access.idp.ada.1', 'access.idp.ada.2']);
    expect(await storage.get(`upstream:${person}:idp`)).toBeUndefined();
  });

  it('a new sign-in keeps the tokens of the sign-in', async () => {
    const { obtain, idp, accounts, person } = await expired();
    const { promise, resolve } = Promise.withResolvers<void>();
    idp.next.after = () => promise;
    const obtaining = obtain();
    await until(() => idp.refreshes.length === 1);
    await accounts.connect(person, 'idp', idp.grant('ada'));
    resolve();
    expect(await obtaining).toBe('access.idp.ada.3');
  });

  it('a new sign-in without a refresh token keeps the refreshed one, not the one that is used up', async () => {
    const { obtain, idp, accounts, person, clock } = await expired();
    const { promise, resolve } = Promise.withResolvers<void>();
    idp.next.after = () => promise;
    const obtaining = obtain();
    await until(() => idp.refreshes.length === 1);
    await accounts.connect(person, 'idp', idp.grant('ada', { refreshToken: true }));
    resolve();
    await obtaining;
    idp.next = {};
    clock.advance(HOUR_MS);
    await obtain();
    expect(idp.refreshes).toEqual(['refresh.idp.ada.1', 'refresh.idp.ada.2']);
  });

  it('the death of the replica that runs it waits for the end of its lock', async () => {
    const { obtain, storage, person, clock, idp } = await expired();
    await storage.add(`lock:upstream:${person}:idp`, { owner: 'a replica that was killed' }, 30_000);
    const obtaining = obtain();
    await new Promise((resolve) => setTimeout(resolve, 250));
    expect(idp.refreshes).toEqual([]);
    clock.advance(30_000);
    expect(await obtaining).toBe('access.idp.ada.2');
  });
});

describe('access that ends while calls run', () => {
  it('ends at once on all replicas, and after a few seconds on one that does not hear the others', async () => {
    const test = accountsOnMemory();
    const { caller, person } = await signedIn(test, test.idp);
    const hearing = test.replica().upstreamTokens;
    const other = test.replica({ ...test.storage, listen: () => () => {} }).upstreamTokens;
    for (const tokens of [test.upstreamTokens, hearing, other]) await tokens.obtain(caller, 'idp', NEVER);
    await test.accounts.disconnect(person, 'idp', NEVER);
    expect(test.upstreamTokens.known(caller, 'idp')).toBeUndefined();
    expect(hearing.known(caller, 'idp')).toBeUndefined();
    expect(other.known(caller, 'idp')).toBeDefined();
    test.clock.advance(5_000);
    expect(other.known(caller, 'idp')).toBeUndefined();
    await expect(other.obtain(caller, 'idp', NEVER)).rejects.toThrow(UserActionRequired);
  });

  it('ends with the session, also for a caller whose token is still valid', async () => {
    const test = accountsOnMemory();
    const { caller } = await signedIn(test, test.idp);
    await signedIn(test, test.idp, 'ada', 'another session');
    await test.upstreamTokens.obtain(caller, 'idp', NEVER);
    await test.accounts.endSession('session-of-ada');
    expect(test.upstreamTokens.known(caller, 'idp')).toBeUndefined();
    await expect(test.upstreamTokens.obtain(caller, 'idp', NEVER)).rejects.toThrow(
      'the sign-in of this caller has ended',
    );
    const second = { ...caller, claims: { ...caller.claims, tsid: 'another session' } };
    await test.upstreamTokens.obtain(second, 'idp', NEVER);
  });
});
