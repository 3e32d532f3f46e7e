import { GatewayFault } from '@toolmgr/core';
import { LRUCache } from 'lru-cache';
import type { IssuedToken } from './token-request.ts';

const MAX_CACHED = 10_000; // tokens of one strategy; the least recently used is dropped
const MAX_IN_FLIGHT = 256; // exchanges at one time
const MAX_CACHED_MS = 3_600_000; // maximum lifetime, so that a revoked token ends
const UNKNOWN_LIFE_MS = 60_000; // of a token without a lifetime in the response
const EARLY_MS = 30_000; // a token is not used shortly before its end, for latency and clock skew
const MAX_EARLY_SHARE = 0.2; // of the life of a short one
const FAILURE_MS = 2_000; // a failure is cached for requests with the same key
const FRESH_MS = 5_000; // a token this new is not renewed after a refusal

/** The result of an exchange. */
export interface CachedToken {
  /** Value of the `Authorization` header; `undefined` when the endpoint issues no token. */
  readonly header: string | undefined;
}

/** Tokens by key: concurrent requests share one exchange, and tokens are cached until shortly before their end. */
export interface TokenCache {
  /** The cached token, if valid. @throws GatewayFault a cached failure */
  find(key: string): CachedToken | undefined;
  /**
   * The token, requested if necessary. The signal ends only this wait; the exchange continues for others.
   * @throws GatewayFault of `make`; AUTH_STRATEGY_FAILED when too many are in flight · the signal's reason
   */
  obtain(key: string, wanted: TokenSource, signal: AbortSignal): Promise<CachedToken>;
  /** A backend refused the token: returns whether another one is or will be available. */
  renew(key: string): boolean;
}

/** How to get a token, and its latest end. */
export interface TokenSource {
  make(): Promise<IssuedToken | undefined>;
  /** Epoch milliseconds: the end of the token that it was exchanged for. */
  readonly untilMs: number | undefined;
}

interface Entry extends CachedToken {
  readonly fault?: GatewayFault;
  readonly madeMs: number;
  readonly untilMs: number;
  /** Whether it replaced a token that a backend refused. */
  readonly isRenewed: boolean;
}

/** Creates an empty cache; `now` returns epoch milliseconds. */
export function createTokenCache(now: () => number): TokenCache {
  const entries = new LRUCache<string, Entry>({ max: MAX_CACHED });
  const refused = new LRUCache<string, true>({ max: MAX_CACHED });
  const inFlight = new Map<string, Promise<CachedToken>>();

  const keep = (key: string, entry: Omit<Entry, 'madeMs' | 'isRenewed'>): Entry => {
    const kept: Entry = { ...entry, madeMs: now(), isRenewed: refused.delete(key) };
    entries.set(key, kept);
    return kept;
  };
  const make = async (key: string, wanted: TokenSource): Promise<CachedToken> => {
    try {
      const issued = await wanted.make();
      return keep(key, { header: issued?.header, untilMs: endOf(issued, wanted, now()) });
    } catch (cause) {
      if (cause instanceof GatewayFault) keep(key, { header: undefined, fault: cause, untilMs: now() + FAILURE_MS });
      throw cause;
    } finally {
      inFlight.delete(key);
    }
  };
  return {
    find(key) {
      const entry = entries.get(key);
      if (entry === undefined || entry.untilMs <= now()) return undefined;
      if (entry.fault !== undefined) throw entry.fault;
      return entry;
    },
    obtain(key, wanted, signal) {
      let shared = inFlight.get(key);
      if (shared === undefined) {
        if (inFlight.size >= MAX_IN_FLIGHT) return Promise.reject(tooMany());
        shared = make(key, wanted);
        inFlight.set(key, shared);
      }
      return unlessAborted(shared, signal);
    },
    renew(key) {
      const entry = entries.get(key);
      if (entry === undefined) return inFlight.has(key);
      if (entry.fault !== undefined) return false;
      // The refusal may be about the token that this one replaced.
      if (now() - entry.madeMs < FRESH_MS) return entry.isRenewed;
      entries.delete(key);
      refused.set(key, true);
      return true;
    },
  };
}

/** Epoch milliseconds of the end of use; without a token, the time of the next attempt. */
function endOf(issued: IssuedToken | undefined, { untilMs }: TokenSource, nowMs: number): number {
  if (issued === undefined) return nowMs + UNKNOWN_LIFE_MS;
  const lifeMs = Math.min(issued.lifetimeMs ?? UNKNOWN_LIFE_MS, MAX_CACHED_MS);
  const endMs = nowMs + lifeMs - Math.min(EARLY_MS, lifeMs * MAX_EARLY_SHARE);
  return untilMs === undefined ? endMs : Math.min(endMs, untilMs);
}

function unlessAborted<T>(shared: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    shared.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

function tooMany(): GatewayFault {
  return new GatewayFault('AUTH_STRATEGY_FAILED', `more than ${MAX_IN_FLIGHT} token exchanges are in flight`);
}
