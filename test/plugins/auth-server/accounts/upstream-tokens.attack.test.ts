import { describe, expect, it } from 'vitest';
import { accountsOnMemory, NEVER, signedIn } from '../../../support/accounts.ts';

describe('the upstream tokens of other people', () => {
  it('are not given for the own subject with the session of another person, nor the reverse', async () => {
    const test = accountsOnMemory();
    const ada = await signedIn(test, test.idp, 'ada');
    const eve = await signedIn(test, test.idp, 'eve');
    await test.upstreamTokens.obtain(ada.caller, 'idp', NEVER);
    await test.upstreamTokens.obtain(eve.caller, 'idp', NEVER);
    for (const claims of [
      { sub: ada.person, tsid: 'session-of-eve' },
      { sub: eve.person, tsid: 'session-of-ada' },
      { sub: `${ada.person}\0idp`, tsid: 'session-of-ada' },
    ]) {
      const mixed = { ...eve.caller, claims };
      expect(test.upstreamTokens.known(mixed, 'idp')).toBeUndefined();
      await expect(test.upstreamTokens.obtain(mixed, 'idp', NEVER)).rejects.toThrow(
        'the sign-in of this caller has ended',
      );
    }
  });

  it('are not mixed up when both ask at the same time', async () => {
    const test = accountsOnMemory();
    const people = await Promise.all(['ada', 'bob', 'eve'].map((name) => signedIn(test, test.idp, name)));
    test.clock.advance(3_600_000);
    const calls = Array.from({ length: 300 }, (_, at) => people[at % 3]).filter((each) => each !== undefined);
    const obtained = await Promise.all(calls.map(({ caller }) => test.upstreamTokens.obtain(caller, 'idp', NEVER)));
    expect(obtained.map(({ claims }) => claims.sub)).toEqual(calls.map((_, at) => ['ada', 'bob', 'eve'][at % 3]));
    expect(test.idp.refreshes).toHaveLength(3);
  });

  it('are not found by names of providers that look like keys of records', async () => {
    const test = accountsOnMemory();
    const { caller } = await signedIn(test, test.idp);
    for (const provider of ['__proto__', 'constructor', '../idp', 'idp:x', '']) {
      await expect(test.upstreamTokens.obtain(caller, provider, NEVER)).rejects.toThrow(
        'there is no upstream provider',
      );
      expect(test.upstreamTokens.known(caller, provider)).toBeUndefined();
    }
  });

  it('are in no log line, and not in the texts of faults', async () => {
    const test = accountsOnMemory();
    const { caller } = await signedIn(test, test.idp);
    test.clock.advance(3_600_000);
    test.idp.next.before = async () => {
      throw new Error('answer of the provider with refresh.idp.ada.1 inside');
    };
    const failure: unknown = await test.upstreamTokens.obtain(caller, 'idp', NEVER).catch((cause: unknown) => cause);
    expect(String(failure)).toContain('no new token of idp');
    expect(String(failure) + JSON.stringify(test.core.lines)).not.toContain('refresh.idp');
    test.idp.next = {};
    test.clock.advance(5_000);
    const token = await test.upstreamTokens.obtain(caller, 'idp', NEVER);
    expect(JSON.stringify(token) + JSON.stringify(test.core.lines)).not.toMatch(/(access|refresh)\.idp/);
  });
});
