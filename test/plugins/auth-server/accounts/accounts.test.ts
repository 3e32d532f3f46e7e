import { GatewayFault } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { createAccountsAndTokens } from '../../../../plugins/auth-server/accounts/accounts-and-tokens.ts';
import { accountsOnMemory, ISSUER, NEVER, signedIn } from '../../../support/accounts.ts';

const DAY_MS = 86_400_000;

describe('people', () => {
  it('are the same for one identity, also when twenty sign-ins see it for the first time at once', async () => {
    const { accounts } = accountsOnMemory();
    const identity = { subject: 'ada', isSynthetic: false, claims: {} };
    const found = await Promise.all(Array.from({ length: 20 }, () => accounts.personOf('idp', identity)));
    expect(new Set(found.map(({ id }) => id)).size).toBe(1);
    expect(found[0]?.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
  });

  it('differ by provider and by subject', async () => {
    const { accounts } = accountsOnMemory();
    const identityOf = (subject: string) => ({ subject, isSynthetic: false, claims: {} });
    const ids = [
      await accounts.personOf('idp', identityOf('ada')),
      await accounts.personOf('idp', identityOf('bob')),
      await accounts.personOf('github', identityOf('ada')),
    ].map(({ id }) => id);
    expect(new Set(ids).size).toBe(3);
  });

  it('are others when another issuer has the name of the provider', async () => {
    const { storage, upstreams, clock, core } = accountsOnMemory();
    const idOf = async (authority: string) => {
      const known = upstreams.map((each) => ({ ...each, authority }));
      const parts = { issuer: ISSUER, storage, upstreams: known, log: core.log, connectUrl: () => '', now: clock.now };
      const { accounts } = createAccountsAndTokens(parts);
      return (await accounts.personOf('idp', { subject: 'ada', isSynthetic: false, claims: {} })).id;
    };
    const before = await idOf('https://old.example');
    expect(await idOf('https://new.example')).not.toBe(before);
    expect(await idOf('https://old.example')).toBe(before);
  });

  it('keep the name of an earlier sign-in when the provider gives none, and take a new one', async () => {
    const { accounts } = accountsOnMemory();
    const sign = (more: object) =>
      accounts.personOf('idp', { subject: 'ada', isSynthetic: false, claims: {}, ...more });
    const { id } = await sign({ name: 'Ada', email: 'ada@example.com' });
    expect(await sign({})).toEqual({ id, name: 'Ada', email: 'ada@example.com' });
    await sign({ name: 'Ada L' });
    expect(await accounts.person(id)).toEqual({ id, name: 'Ada L', email: 'ada@example.com' });
    expect(await accounts.person('unknown')).toBeUndefined();
  });
});

describe('connections', () => {
  it('are listed in the order of the providers, without tokens', async () => {
    const { accounts, idp, github, clock } = accountsOnMemory();
    await accounts.connect('p', 'github', github.grant('ada-at-github'));
    await accounts.connect('p', 'idp', idp.grant('ada', { refreshToken: true }));
    expect(await accounts.connections('p')).toEqual([
      {
        provider: 'idp',
        account: 'ada',
        scope: 'read',
        connectedMs: clock.now(),
        expiresMs: clock.now() + 3_600_000,
        isUsable: true,
        isRefreshable: false,
      },
      expect.objectContaining({ provider: 'github', account: 'ada-at-github', isUsable: true, isRefreshable: true }),
    ]);
    expect(JSON.stringify(await accounts.connections('p'))).not.toContain('refresh.');
    clock.advance(3_600_000);
    expect((await accounts.connections('p')).map(({ isUsable }) => isUsable)).toEqual([false, true]);
  });

  it('keep the earlier refresh token when a later sign-in returns none', async () => {
    const { accounts, idp } = accountsOnMemory();
    await accounts.connect('p', 'idp', idp.grant('ada'));
    await accounts.connect('p', 'idp', idp.grant('ada', { refreshToken: true }));
    expect((await accounts.connections('p'))[0]?.isRefreshable).toBe(true);
  });

  it('keep no refresh token of another account, and none of another client of the gateway at the provider', async () => {
    const { accounts, idp } = accountsOnMemory();
    await accounts.connect('p', 'idp', idp.grant('ada'));
    await accounts.connect('p', 'idp', idp.grant('bob', { refreshToken: true }));
    expect((await accounts.connections('p'))[0]?.isRefreshable).toBe(false);

    const { identity, tokens } = idp.grant('ada', { refreshToken: true });
    await accounts.connect('q', 'idp', idp.grant('ada'));
    await accounts.connect('q', 'idp', { identity, tokens: { ...tokens, clientId: 'registered-later' } });
    expect((await accounts.connections('q'))[0]?.isRefreshable).toBe(false);
  });

  it('outlive the access token, and every renewed session keeps them', async () => {
    const test = accountsOnMemory();
    const { person } = await signedIn(test, test.idp);
    for (let month = 0; month < 8; month++) {
      test.clock.advance(29 * DAY_MS);
      await test.accounts.openSession({ id: `later-${month}`, person, clientId: 'c', startedMs: 0 }, DAY_MS);
    }
    expect(await test.accounts.connections(person)).toEqual([expect.objectContaining({ isRefreshable: true })]);
  });

  it('end with a disconnect, which revokes the tokens at the provider', async () => {
    const { accounts, idp } = accountsOnMemory();
    await accounts.connect('p', 'idp', idp.grant('ada'));
    await accounts.disconnect('p', 'idp', NEVER);
    await accounts.disconnect('p', 'idp', NEVER);
    expect(idp.revoked).toEqual(['access.idp.ada.1']);
    expect(await accounts.connections('p')).toEqual([]);
  });
});

describe('sessions', () => {
  it('of a person with too many of them are refused, and leave no record', async () => {
    const { storage, replica, clock } = accountsOnMemory();
    const full = async () => Promise.reject(new GatewayFault('STORE_FULL', 'the set is full'));
    const { accounts } = replica({ ...storage, addMember: full });
    const session = { id: 'one-too-many', person: 'p', clientId: 'client', startedMs: clock.now() };
    await expect(accounts.openSession(session, DAY_MS)).rejects.toMatchObject({ code: 'STORE_FULL' });
    expect(await accounts.session('one-too-many')).toBeUndefined();
  });

  it('end by themselves, later when they are extended, and at once when they are ended', async () => {
    const { accounts, clock } = accountsOnMemory();
    const session = { id: 't', person: 'p', clientId: 'c', startedMs: clock.now() };
    await accounts.openSession(session, 1000);
    expect(await accounts.session('t')).toEqual(session);
    clock.advance(900);
    await accounts.extendSession('t', 1000);
    clock.advance(900);
    expect(await accounts.session('t')).toEqual(session);
    await accounts.endSession('t');
    await accounts.endSession('t');
    expect(await accounts.session('t')).toBeUndefined();
    await accounts.extendSession('t', 1000);
    expect(await accounts.session('t')).toBeUndefined();
  });

  it('of a person are listed, the newest first', async () => {
    const { accounts, clock } = accountsOnMemory();
    const old = { id: 'a', person: 'p', clientId: 'c', startedMs: 1 };
    const recent = { id: 'b', person: 'p', clientId: 'd', clientName: 'Inspector', startedMs: 2 };
    await accounts.openSession(old, 2000);
    await accounts.openSession(recent, 1000);
    await accounts.openSession({ id: 'x', person: 'q', clientId: 'c', startedMs: 3 }, 1000);
    expect(await accounts.sessions('p')).toEqual([recent, old]);
    clock.advance(1500);
    expect(await accounts.sessions('p')).toEqual([old]);
  });

  it('take the upstream tokens with them when the last one of a person ends', async () => {
    const test = accountsOnMemory();
    const { person } = await signedIn(test, test.idp, 'ada', 'one');
    await signedIn(test, test.idp, 'ada', 'two');
    test.clock.advance(DAY_MS / 2);
    await test.accounts.endSession('one');
    expect(await test.accounts.connections(person)).toHaveLength(1);
    await test.accounts.endSession('two');
    expect(await test.accounts.connections(person)).toEqual([]);
    expect(await test.storage.members(`user:upstream:${person}`)).toEqual([]);
  });

  it('leave what was connected a moment ago for the next session, which is about to start', async () => {
    const test = accountsOnMemory();
    const { person } = await signedIn(test, test.idp, 'ada', 'one');
    await test.accounts.endSession('one');
    expect(await test.accounts.connections(person)).toHaveLength(1);
    test.clock.advance(60_000);
    await test.accounts.openSession({ id: 'two', person, clientId: 'c', startedMs: 0 }, 30 * DAY_MS);
    test.clock.advance(DAY_MS);
    expect(await test.accounts.connections(person)).toHaveLength(1);

    const other = accountsOnMemory();
    const bob = await signedIn(other, other.idp, 'bob', 'three');
    await other.accounts.endSession('three');
    other.clock.advance(DAY_MS);
    expect(await other.accounts.connections(bob.person)).toEqual([]);
  });

  it('of one person are counted without those that ended by themselves', async () => {
    const { accounts, storage, clock } = accountsOnMemory();
    for (let at = 0; at < 80; at++) {
      await accounts.openSession({ id: `t${at}`, person: 'p', clientId: 'c', startedMs: 0 }, at === 79 ? DAY_MS : 10);
      clock.advance(11);
    }
    expect((await storage.members('user:sessions:p')).length).toBeLessThan(70);
  });
});
