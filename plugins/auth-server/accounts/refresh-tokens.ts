import { setTimeout as delay } from 'node:timers/promises';
import { explainCause, GatewayFault, type Log } from '@toolmgr/core';
import type { AuthStorage } from '../storage/storage.ts';
import { type RefreshedTokens, type Upstream, UpstreamRefusal } from '../upstreams/upstream.ts';
import type { TokenRow } from './accounts.ts';
import { rowKey } from './recent-rows.ts';
import { LOCK_MS, takeLock } from './row-lock.ts';
import { KEYS } from './storage-keys.ts';
import type { StoredRow, TokenRows } from './token-rows.ts';

const REFRESH_MS = 15_000; // one request to a provider
const PERSIST_TRIES = 3;
const PERSIST_PAUSE_MS = 50;
const POLL_MS = 100; // while another replica refreshes the row
const MAX_POLLS = (LOCK_MS + 5_000) / POLL_MS;

/** What {@link createTokenRefresher} needs. */
export interface RefresherParts {
  readonly storage: AuthStorage;
  readonly rows: TokenRows;
  readonly upstreams: readonly Upstream[];
  readonly log: Log;
  /** Epoch milliseconds. */
  now(): number;
}

/** Refreshes rows. */
export interface TokenRefresher {
  /**
   * Refreshes a row while `isWanted` says so, once for all callers of all replicas. Returns the row as it is afterwards, which
   * may have a problem; `undefined` when it is gone. Not bound to one caller: the refresh finishes without them.
   * @throws GatewayFault REMOTE_UNAVAILABLE, REMOTE_REFUSED, STORE_UNAVAILABLE
   */
  refresh(person: string, provider: string, isWanted: (row: TokenRow) => boolean): Promise<TokenRow | undefined>;
}

/**
 * Creates the refresher. A refresh token may be valid for one use only, so the new tokens are stored before they are checked
 * and before anything else can fail.
 */
export function createTokenRefresher({ storage, rows, upstreams, log, now }: RefresherParts): TokenRefresher {
  const running = new Map<string, Promise<TokenRow | undefined>>();

  const refreshOnce: TokenRefresher['refresh'] = async (person, provider, isWanted) => {
    for (let polls = 0; polls < MAX_POLLS; polls++) {
      const seen = await rows.read(person, provider);
      if (seen === undefined || !isWanted(seen.row)) return seen?.row;
      const lock = await takeLock(storage, KEYS.refreshLock(person, provider));
      if (lock === undefined) {
        await delay(POLL_MS);
        continue;
      }
      try {
        const stored = await rows.read(person, provider);
        if (stored === undefined || !isWanted(stored.row)) return stored?.row;
        return await refreshRow(person, provider, stored);
      } finally {
        await lock.release().catch(() => undefined); // it ends by itself
      }
    }
    throw unavailable(provider, 'another replica did not finish a refresh in time');
  };

  const refreshRow = async (person: string, provider: string, before: StoredRow): Promise<TokenRow | undefined> => {
    const upstream = upstreams.find(({ name }) => name === provider);
    if (upstream === undefined) throw unavailable(provider, 'it is not configured any more');
    let refreshed: RefreshedTokens;
    try {
      refreshed = await upstream.refresh(before.row.tokens, AbortSignal.timeout(REFRESH_MS));
    } catch (cause) {
      if (!isFinal(cause)) throw outage(provider, cause);
      log.info('a refresh token is not accepted any more', { provider, person, reason: cause.message });
      return mark(person, provider, before, { ...before.row, problem: 'refused' });
    }
    const { tokens, claims } = refreshed;
    const identity = claims === undefined ? before.row.identity : { ...before.row.identity, claims };
    const unchecked: TokenRow = { ...before.row, identity, tokens, issuedMs: now(), problem: 'unchecked' };
    const stored = await persist(person, provider, before, unchecked);
    if (stored === undefined) {
      await upstream.revoke(tokens, AbortSignal.timeout(REFRESH_MS));
      return undefined;
    }
    if (!hasTokensOf(stored.row, unchecked)) return stored.row;
    try {
      await refreshed.check();
    } catch (cause) {
      if (!(cause instanceof UpstreamRefusal)) throw outage(provider, cause);
      log.warn('refreshed tokens are not used', { provider, person, reason: cause.message });
      return mark(person, provider, stored, { ...stored.row, problem: 'invalid' });
    }
    return mark(person, provider, stored, { ...stored.row, problem: undefined });
  };

  /** Writes what became of a row. A failure to write is no failure of the refresh. */
  const mark = async (person: string, provider: string, before: StoredRow, row: TokenRow): Promise<TokenRow> => {
    try {
      if (await rows.write(person, provider, before, row)) return row;
      return (await rows.read(person, provider))?.row ?? row;
    } catch (cause) {
      log.warn('the state of an upstream token could not be stored', { provider, error: explainCause(cause) });
      return row;
    }
  };

  /**
   * Stores refreshed tokens. Returns the row that is stored then, which another sign-in may have written; `undefined` when it
   * was deleted meanwhile.
   */
  const persist = async (
    person: string,
    provider: string,
    before: StoredRow,
    row: TokenRow,
  ): Promise<StoredRow | undefined> => {
    let failure: unknown;
    let [expected, wanted] = [before, row];
    for (let tries = 0; tries < PERSIST_TRIES; tries++) {
      try {
        await rows.write(person, provider, expected, wanted);
        const stored = await rows.read(person, provider);
        if (stored === undefined || hasTokensOf(stored.row, wanted)) return stored;
        if (refreshTokenOf(stored.row) !== refreshTokenOf(before.row)) return stored;
        // a sign-in took over the refresh token that is used up now
        const { identity, connectedMs } = stored.row;
        [expected, wanted] = [stored, { ...wanted, identity, connectedMs }];
      } catch (cause) {
        failure = cause;
        await delay(PERSIST_PAUSE_MS);
      }
    }
    await rows.delete(person, provider).catch(() => undefined);
    log.error('refreshed tokens could not be stored, the person has to connect again', { provider, person });
    throw new GatewayFault('STORE_UNAVAILABLE', `the refreshed tokens of ${provider} could not be stored`, {
      cause: failure,
    });
  };

  return {
    refresh(person, provider, isWanted) {
      const key = rowKey(person, provider);
      const shared = running.get(key);
      if (shared !== undefined) return shared;
      const started = refreshOnce(person, provider, isWanted).finally(() => running.delete(key));
      running.set(key, started);
      return started;
    },
  };
}

/** Refusals that are about the gateway's client or pass by themselves: the refresh token may still be valid. */
const NOT_FINAL: ReadonlySet<string> = new Set([
  'invalid_client',
  'unauthorized_client',
  'unsupported_grant_type',
  'temporarily_unavailable',
  'server_error',
  'slow_down',
]);

function isFinal(cause: unknown): cause is UpstreamRefusal {
  return cause instanceof UpstreamRefusal && !NOT_FINAL.has(cause.code);
}

function outage(provider: string, cause: unknown): GatewayFault {
  if (cause instanceof GatewayFault) return cause;
  return unavailable(provider, 'it did not answer a refresh as expected', cause);
}

function unavailable(provider: string, why: string, cause?: unknown): GatewayFault {
  return new GatewayFault('REMOTE_UNAVAILABLE', `no new token of ${provider}: ${why}`, { cause });
}

function hasTokensOf({ tokens }: TokenRow, { tokens: other }: TokenRow): boolean {
  return (
    tokens.accessToken.reveal() === other.accessToken.reveal() &&
    tokens.refreshToken?.reveal() === other.refreshToken?.reveal()
  );
}

function refreshTokenOf({ tokens }: TokenRow): string | undefined {
  return tokens.refreshToken?.reveal();
}
