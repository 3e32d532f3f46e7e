import { GatewayFault } from '@toolmgr/core';
import type { AuthStorage } from '../storage/storage.ts';
import type { Upstream, UpstreamGrant } from '../upstreams/upstream.ts';
import type { AccountChanges } from './account-changes.ts';
import type { Accounts, Connection, TokenRow } from './accounts.ts';
import { createPeople } from './people.ts';
import type { RecentRows } from './recent-rows.ts';
import { createSessions } from './sessions.ts';
import type { StoredRow, TokenRows } from './token-rows.ts';

const MAX_TRIES = 5; // of a write while the row changes

/** What {@link createAccounts} needs. */
export interface AccountsParts {
  readonly storage: AuthStorage;
  readonly rows: TokenRows;
  readonly recent: Pick<RecentRows, 'forgetRow' | 'forgetSession'>;
  readonly changes: Pick<AccountChanges, 'announce'>;
  /** In the order of sign-in. */
  readonly upstreams: readonly Upstream[];
  /** Epoch milliseconds. */
  now(): number;
}

/** Creates people, sessions and connections on a storage. */
export function createAccounts({ storage, rows, recent, changes, upstreams, now }: AccountsParts): Accounts {
  const sessions = createSessions(storage);
  return {
    ...createPeople(storage, upstreams),
    async connect(person, provider, grant) {
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const before = await rows.read(person, provider);
        if (!(await rows.write(person, provider, before, connectedRow(grant, before, now())))) continue;
        return changes.announce({ person, provider });
      }
      throw new GatewayFault('STORE_UNAVAILABLE', `the tokens of ${provider} change all the time`);
    },
    async disconnect(person, provider, signal) {
      recent.forgetRow(person, provider);
      const row = await rows.take(person, provider);
      changes.announce({ person, provider });
      if (row === undefined) return;
      await upstreams.find(({ name }) => name === provider)?.revoke(row.tokens, signal);
    },
    async connections(person) {
      const found: Connection[] = [];
      for (const { name } of upstreams) {
        const stored = await rows.read(person, name);
        if (stored !== undefined) found.push(connectionOf(name, stored.row, now()));
      }
      return found;
    },
    async openSession(session, ttlMs) {
      await sessions.open(session, ttlMs);
      await rows.keepAll(session.person);
    },
    session: sessions.find,
    sessions: sessions.of,
    async extendSession(tsid, ttlMs) {
      const session = await sessions.extend(tsid, ttlMs);
      if (session !== undefined) await rows.keepAll(session.person);
    },
    async endSession(tsid) {
      recent.forgetSession(tsid);
      const ended = await sessions.end(tsid);
      changes.announce({ tsid });
      if (!ended?.isLast) return ended?.session;
      const { person } = ended.session;
      for (const provider of await rows.releaseAll(person, now())) changes.announce({ person, provider });
      return ended.session;
    },
  };
}

function connectedRow({ identity, tokens }: UpstreamGrant, before: StoredRow | undefined, nowMs: number): TokenRow {
  const refreshToken = tokens.refreshToken ?? earlierRefreshToken({ identity, tokens }, before);
  return { identity, tokens: { ...tokens, refreshToken }, connectedMs: nowMs, issuedMs: nowMs };
}

/**
 * Many providers give a refresh token only at the first sign-in. The earlier one is of use for the same client at the provider
 * and the same account only. A derived subject changes with each access token, so it says nothing about the account.
 */
function earlierRefreshToken({ identity, tokens }: UpstreamGrant, before: StoredRow | undefined) {
  if (before === undefined || before.row.problem === 'refused' || before.row.problem === 'invalid') return undefined;
  const earlier = before.row;
  const isSameAccount =
    earlier.identity.isSynthetic && identity.isSynthetic ? true : earlier.identity.subject === identity.subject;
  return isSameAccount && earlier.tokens.clientId === tokens.clientId ? earlier.tokens.refreshToken : undefined;
}

function connectionOf(
  provider: string,
  { identity, tokens, connectedMs, problem }: TokenRow,
  nowMs: number,
): Connection {
  const { expiresMs, scope } = tokens;
  const isRefreshable = tokens.refreshToken !== undefined && (problem === undefined || problem === 'unchecked');
  const isValid = problem !== 'invalid' && problem !== 'unchecked' && (expiresMs === undefined || expiresMs > nowMs);
  return {
    provider,
    account: identity.name ?? identity.email ?? identity.subject,
    scope,
    connectedMs,
    expiresMs,
    isUsable: isRefreshable || isValid,
    isRefreshable,
  };
}
