import { GatewayFault } from '@toolmgr/core';
import { LRUCache } from 'lru-cache';
import { unlessAborted } from './unless-aborted.ts';

const MAX_CACHED = 10_000; // credentials of one strategy; the least recently used is dropped
const MAX_IN_FLIGHT = 256; // requests at one time
const MAX_CACHED_MS = 3_600_000; // maximum lifetime, so that a revoked one ends
const UNKNOWN_LIFE_MS = 60_000; // of a credential without a known lifetime
const EARLY_MS = 30_000; // a credential is not used shortly before its end, for latency and clock skew
const MAX_EARLY_SHARE = 0.2; // of the life of a short one
const FAILURE_MS = 2_000; // a failure is cached for requests with the same key
const FRESH_MS = 5_000; // a credential this new is not renewed after a refusal

/** Credentials by key: concurrent requests share one request, and credentials are cached until shortly before their end. */
export interface CredentialCache<T> {
  /** The cached credential, if valid. @throws GatewayFault a cached failure */
  find(key: string): Cached<T> | undefined;
  /**
   * The credential, requested if necessary. The signal ends only this wait; the request continues for others.
   * @throws GatewayFault of `make`; AUTH_STRATEGY_FAILED when too many are in flight · the signal's reason
   */
  obtain(key: string, wanted: CredentialSource<T>, signal: AbortSignal): Promise<Cached<T>>;
  /** A backend refused the credential: returns whether another one is or will be available. */
  renew(key: string): boolean;
}

/** A cached result. */
export interface Cached<T> {
  /** `undefined` when none is issued. */
  readonly value: T | undefined;
}

/** An issued credential. */
export interface Issued<T> {
  readonly value: T;
  /** Milliseconds; `undefined` when it is not known. */
  readonly lifetimeMs: number | undefined;
}

/** How to get a credential, and its latest end. */
export interface CredentialSource<T> {
  make(): Promise<Issued<T> | undefined>;
  /** Epoch milliseconds: the end of the token that it was made from. */
  readonly untilMs: number | undefined;
}

interface Entry<T> extends Cached<T> {
  readonly fault?: GatewayFault;
  readonly madeMs: number;
  readonly untilMs: number;
  /** Whether it replaced a credential that a backend refused. */
  readonly isRenewed: boolean;
}

/** Creates an empty cache; `now` returns epoch milliseconds, `requests` names what is counted ("token exchanges"). */
export function createCredentialCache<T>(now: () => number, requests: string): CredentialCache<T> {
  const entries = new LRUCache<string, Entry<T>>({ max: MAX_CACHED });
  const refused = new LRUCache<string, true>({ max: MAX_CACHED });
  const inFlight = new Map<string, Promise<Cached<T>>>();

  const keep = (key: string, entry: Omit<Entry<T>, 'madeMs' | 'isRenewed'>): Entry<T> => {
    const kept: Entry<T> = { ...entry, madeMs: now(), isRenewed: refused.delete(key) };
    entries.set(key, kept);
    return kept;
  };
  const make = async (key: string, wanted: CredentialSource<T>): Promise<Cached<T>> => {
    try {
      const issued = await wanted.make();
      return keep(key, { value: issued?.value, untilMs: endOf(issued, wanted, now()) });
    } catch (cause) {
      if (cause instanceof GatewayFault) keep(key, { value: undefined, fault: cause, untilMs: now() + FAILURE_MS });
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
        if (inFlight.size >= MAX_IN_FLIGHT) return Promise.reject(tooMany(requests));
        shared = make(key, wanted);
        inFlight.set(key, shared);
      }
      return unlessAborted(shared, signal);
    },
    renew(key) {
      const entry = entries.get(key);
      if (entry === undefined) return inFlight.has(key);
      if (entry.fault !== undefined) return false;
      // The refusal may be about the credential that this one replaced.
      if (now() - entry.madeMs < FRESH_MS) return entry.isRenewed;
      entries.delete(key);
      refused.set(key, true);
      return true;
    },
  };
}

/** Epoch milliseconds of the end of use; without a credential, the time of the next attempt. */
function endOf<T>(issued: Issued<T> | undefined, { untilMs }: CredentialSource<T>, nowMs: number): number {
  if (issued === undefined) return nowMs + UNKNOWN_LIFE_MS;
  const lifeMs = Math.min(issued.lifetimeMs ?? UNKNOWN_LIFE_MS, MAX_CACHED_MS);
  const endMs = nowMs + lifeMs - Math.min(EARLY_MS, lifeMs * MAX_EARLY_SHARE);
  return untilMs === undefined ? endMs : Math.min(endMs, untilMs);
}

function tooMany(requests: string): GatewayFault {
  return new GatewayFault('AUTH_STRATEGY_FAILED', `more than ${MAX_IN_FLIGHT} ${requests} are in flight`);
}
