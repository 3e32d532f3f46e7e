import type { Log } from '@toolmgr/core';
import type { AuthStorage } from '../storage/storage.ts';
import type { Upstream } from '../upstreams/upstream.ts';
import { createAccountChanges } from './account-changes.ts';
import type { Accounts } from './accounts.ts';
import { createAccounts } from './create-accounts.ts';
import { createRecentRows } from './recent-rows.ts';
import { createTokenRefresher } from './refresh-tokens.ts';
import { createTokenRows } from './token-rows.ts';
import { type CallerTokens, createUpstreamTokens } from './upstream-tokens.ts';

/** What {@link createAccountsAndTokens} needs. */
export interface AccountsAndTokensParts {
  /** Issuer of the callers that have upstream tokens, without a trailing slash. */
  readonly issuer: string;
  readonly storage: AuthStorage;
  /** In the order of sign-in. */
  readonly upstreams: readonly Upstream[];
  readonly log: Log;
  /** The link that leads a person to a provider. */
  connectUrl(person: string, provider: string): string | Promise<string>;
  /** The tokens of a person changed, here or in another replica. */
  changed?(person: string): void;
  /** Epoch milliseconds. */
  now(): number;
}

/**
 * Creates the accounts, and the slot `upstreamTokens` that reads them. What changes here or in another replica is seen by the
 * slot at once; while the storage is away, changes of others after some seconds.
 */
export function createAccountsAndTokens(parts: AccountsAndTokensParts): {
  readonly accounts: Accounts;
  readonly upstreamTokens: CallerTokens;
  /** Changes of other replicas are not heard any more. */
  stop(): void;
} {
  const rows = createTokenRows(parts.storage);
  const recent = createRecentRows(parts.now);
  const refresher = createTokenRefresher({ ...parts, rows });
  const changes = createAccountChanges(parts.storage, (change) => {
    if (change.provider === undefined) return recent.forgetSession(change.tsid);
    recent.forgetRow(change.person, change.provider);
    parts.changed?.(change.person);
  });
  return {
    stop: changes.stop,
    accounts: createAccounts({ ...parts, rows, recent, changes }),
    upstreamTokens: createUpstreamTokens({
      ...parts,
      providers: parts.upstreams.map(({ name }) => name),
      rows,
      recent,
      refresher,
    }),
  };
}
