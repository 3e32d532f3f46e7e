import { GatewayFault } from '@toolmgr/core';
import { LRUCache } from 'lru-cache';
import type { IssuedToken } from './token-request.ts';

const MAX_KEPT = 10_000; // tokens of one use of the strategy; the longest unused goes first
const MAX_UNDER_WAY = 256; // exchanges at one time
const MAX_KEPT_MS = 3_600_000; // a longer life is not used up, so that what was taken back ends some time
const UNKNOWN_LIFE_MS = 60_000; // of a token whose life the endpoint does not say
const EARLY_MS = 30_000; // before its end a token is not used any more: it has a way to go, and clocks differ
const MAX_EARLY_SHARE = 0.2; // of the life of a short one
const FAILURE_MS = 2_000; // a failure answers for others of the same key
const FRESH_MS = 5_000; // a token this new is not made again because a backend refuses it

/** What an exchange brought. */
export interface KeptToken {
  /** Value of the `Authorization` header; `undefined`: there is none to be had. */
  readonly header: string | undefined;
}

/** Tokens by key: made once for all who ask meanwhile, and kept until shortly before their end. */
export interface TokenCache {
  /** The token when it is there and good. @throws GatewayFault the failure of a moment ago */
  find(key: string): KeptToken | undefined;
  /**
   * The token, made if need be. The signal ends only this wait; what is made goes on for the others.
   * @throws GatewayFault of `make`; AUTH_STRATEGY_FAILED when too many are under way · the signal's reason
   */
  obtain(key: string, wanted: Wanted, signal: AbortSignal): Promise<KeptToken>;
  /** A backend refused the token: says whether another is, or will be, there. */
  renew(key: string): boolean;
}

/** How a token is made, and until when at most it is used. */
export interface Wanted {
  make(): Promise<IssuedToken | undefined>;
  /** Epoch milliseconds: the end of what it was made from. */
  readonly untilMs: number | undefined;
}

interface Entry extends KeptToken {
  readonly fault?: GatewayFault;
  readonly madeMs: number;
  readonly untilMs: number;
  /** It took the place of one that a backend refused. */
  readonly isRenewed: boolean;
}

/** Makes an empty cache over a clock of epoch milliseconds. */
export function createTokenCache(now: () => number): TokenCache {
  const entries = new LRUCache<string, Entry>({ max: MAX_KEPT });
  const refused = new LRUCache<string, true>({ max: MAX_KEPT });
  const underWay = new Map<string, Promise<KeptToken>>();

  const keep = (key: string, entry: Omit<Entry, 'madeMs' | 'isRenewed'>): Entry => {
    const kept: Entry = { ...entry, madeMs: now(), isRenewed: refused.delete(key) };
    entries.set(key, kept);
    return kept;
  };
  const make = async (key: string, wanted: Wanted): Promise<KeptToken> => {
    try {
      const issued = await wanted.make();
      return keep(key, { header: issued?.header, untilMs: endOf(issued, wanted, now()) });
    } catch (cause) {
      if (cause instanceof GatewayFault) keep(key, { header: undefined, fault: cause, untilMs: now() + FAILURE_MS });
      throw cause;
    } finally {
      underWay.delete(key);
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
      let shared = underWay.get(key);
      if (shared === undefined) {
        if (underWay.size >= MAX_UNDER_WAY) return Promise.reject(tooMany());
        shared = make(key, wanted);
        underWay.set(key, shared);
      }
      return unlessAborted(shared, signal);
    },
    renew(key) {
      const entry = entries.get(key);
      if (entry === undefined) return underWay.has(key);
      if (entry.fault !== undefined) return false;
      // A new one that came in place of a refused one: the refusal may be that of the old.
      if (now() - entry.madeMs < FRESH_MS) return entry.isRenewed;
      entries.delete(key);
      refused.set(key, true);
      return true;
    },
  };
}

/** Epoch milliseconds until which a token is used; one without a header is looked for again after a while. */
function endOf(issued: IssuedToken | undefined, { untilMs }: Wanted, nowMs: number): number {
  if (issued === undefined) return nowMs + UNKNOWN_LIFE_MS;
  const lifeMs = Math.min(issued.lifetimeMs ?? UNKNOWN_LIFE_MS, MAX_KEPT_MS);
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
  return new GatewayFault('AUTH_STRATEGY_FAILED', `over ${MAX_UNDER_WAY} token exchanges are under way`);
}
