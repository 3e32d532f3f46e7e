import type { Caller, JsonObject } from '@toolmgr/core';
import { fakeClock } from '@toolmgr/core/testing';
import { createAccountsAndTokens } from '../../plugins/auth-server/accounts/accounts-and-tokens.ts';
import { createMemoryStorage } from '../../plugins/auth-server/storage/memory-storage.ts';
import type { AuthStorage } from '../../plugins/auth-server/storage/storage.ts';
import { type FakeUpstream, fakeUpstream } from './fake-upstream.ts';
import { pluginCore } from './plugin-core.ts';

export const ISSUER = 'https://gateway.example';
export const NEVER: AbortSignal = new AbortController().signal;

/** A caller with a token of the authorization server. */
export function callerOf(person: string, tsid: string | undefined, more: JsonObject = {}, issuer = ISSUER): Caller {
  const claims: JsonObject = { sub: person, ...(tsid === undefined ? {} : { tsid }), ...more };
  return { issuer, subject: person, key: `${issuer}\0${person}`, claims };
}

/** Accounts on one storage, with a fake clock and the upstreams `idp` and `github`. */
export function accountsOnMemory(lifeMs?: number | 'endless') {
  const clock = fakeClock();
  const storage = createMemoryStorage(clock.now);
  const upstreams = [fakeUpstream('idp', clock.now, lifeMs), fakeUpstream('github', clock.now, lifeMs)] as const;
  const core = pluginCore();
  /** One more replica; `over` replaces its storage, `changed` hears whose tokens changed. */
  const replica = (over: AuthStorage = storage, changed: (person: string) => void = () => {}) =>
    createAccountsAndTokens({
      issuer: ISSUER,
      storage: over,
      upstreams,
      log: core.log,
      connectUrl: (person, provider) => `${ISSUER}/oauth/connect?ticket=${person}.${provider}`,
      changed,
      now: clock.now,
    });
  return { clock, storage, upstreams, idp: upstreams[0], github: upstreams[1], core, replica, ...replica() };
}

/** Signs an account of `upstream` in and returns the caller of a new session. */
export async function signedIn(
  { accounts, clock }: Pick<ReturnType<typeof accountsOnMemory>, 'accounts' | 'clock'>,
  upstream: FakeUpstream,
  account = 'ada',
  tsid = `session-of-${account}`,
) {
  const grant = upstream.grant(account);
  const person = await accounts.personOf(upstream.name, grant.identity);
  await accounts.connect(person.id, upstream.name, grant);
  await accounts.openSession({ id: tsid, person: person.id, clientId: 'client', startedMs: clock.now() }, 86_400_000);
  return { person: person.id, caller: callerOf(person.id, tsid) };
}
