import { type BackOff, backOffMs, faultFrom, type GatewayFault, type Outage } from '@toolmgr/core';
import { createLocalJWKSet, type JWTVerifyGetKey } from 'jose';
import type { FetchKeys } from './provider-keys.ts';

/** The keys of one moment. */
export interface Keys {
  readonly ids: ReadonlySet<string>;
  /** Picks the key of a token by its header. */
  readonly pick: JWTVerifyGetKey;
  readonly fetchedAtMs: number;
}

/** The provider's keys, fetched when needed: never twice at once, never more often than the pauses below allow. */
export interface KeyRing {
  /** The keys that are there now, if they count; old ones are renewed behind the scenes. */
  present(): Keys | undefined;
  /**
   * The keys. Waits only while there are none; old ones are renewed behind the scenes.
   * @throws GatewayFault REMOTE_REFUSED, REMOTE_UNAVAILABLE; at once during the pause after a failure
   */
  current(): Promise<Keys>;
  /** Newer keys, for a token that names an unknown one; the same ones while the pause lasts. @throws as `current` */
  renewed(): Promise<Keys>;
  /** Renews old keys without anybody waiting for it. */
  freshen(): void;
  stop(): void;
}

/** What a ring is made of. */
export interface KeyRingParts {
  readonly fetch: FetchKeys;
  now(): number;
  readonly outage: Outage;
  /** A key is no longer published: what it signed counts no more. */
  onWithdrawn(): void;
}

const RENEW_AFTER_MS = 5 * 60_000;
const DROP_AFTER_MS = 24 * 3_600_000; // of a provider that is away; its tokens have expired by then
const UNKNOWN_KEY_PAUSE_MS = 10_000; // between two fetches because of tokens that name unknown keys
const RETRY: BackOff = { firstMs: 1_000, maxMs: 30_000 };

/** Makes a ring. Fetches nothing before it is asked. */
export function createKeyRing({ fetch, now, outage, onWithdrawn }: KeyRingParts): KeyRing {
  const stopped = new AbortController();
  let keys: Keys | undefined;
  let fetching: Promise<Keys> | undefined;
  let triedAtMs = Number.NEGATIVE_INFINITY;
  let retryAtMs = Number.NEGATIVE_INFINITY;
  let failures = 0;
  let fault: GatewayFault | undefined;

  async function load(): Promise<Keys> {
    triedAtMs = now();
    try {
      const set = await fetch(stopped.signal);
      const next = {
        ids: new Set(set.keys.map(({ kid }) => kid ?? '')),
        pick: createLocalJWKSet(set),
        fetchedAtMs: now(),
      };
      if ([...(keys?.ids ?? [])].some((id) => !next.ids.has(id))) onWithdrawn();
      keys = next;
      failures = 0;
      outage.over();
      return next;
    } catch (cause) {
      failures++;
      retryAtMs = now() + backOffMs(failures, RETRY);
      fault = faultFrom(cause, 'REMOTE_UNAVAILABLE', 'the keys of the identity provider cannot be used');
      if (!stopped.signal.aborted) outage.failed(fault);
      throw fault;
    } finally {
      fetching = undefined;
    }
  }

  function loadOnce(): Promise<Keys> {
    if (fetching === undefined && failures > 0 && now() < retryAtMs) return Promise.reject(fault);
    fetching ??= load();
    return fetching;
  }

  const ring: KeyRing = {
    present() {
      if (keys === undefined || now() - keys.fetchedAtMs > DROP_AFTER_MS) return undefined;
      ring.freshen();
      return keys;
    },
    async current() {
      return ring.present() ?? loadOnce();
    },
    async renewed() {
      const isPausing = fetching === undefined && now() - triedAtMs < UNKNOWN_KEY_PAUSE_MS;
      // during the pause after a failure nobody knows what keys there are
      return isPausing && failures === 0 && keys !== undefined ? keys : loadOnce();
    },
    freshen() {
      if (keys === undefined || now() - keys.fetchedAtMs < RENEW_AFTER_MS) return;
      loadOnce().catch(() => {}); // told by the outage; the old keys stay
    },
    stop: () => stopped.abort(),
  };
  return ring;
}
