import { backOffMs, type createOutageLog, faultFrom, type GatewayFault } from '@toolmgr/core';
import { createLocalJWKSet, type JWTVerifyGetKey } from 'jose';
import type { FetchKeys } from './fetch-keys.ts';

/** A set of keys. */
export interface Keys {
  readonly ids: ReadonlySet<string>;
  /** Selects the key of a token by its header. */
  readonly pick: JWTVerifyGetKey;
  readonly fetchedAtMs: number;
}

/** The provider's keys, fetched on demand, with one fetch at a time and minimum intervals. */
export interface SigningKeys {
  /** The cached keys, if they are valid; old ones are renewed in the background. */
  present(): Keys | undefined;
  /**
   * The keys. Waits only when none are cached; old ones are renewed in the background.
   * @throws GatewayFault REMOTE_REFUSED, REMOTE_UNAVAILABLE; at once during the pause after a failure
   */
  current(): Promise<Keys>;
  /** Fetches keys again for an unknown key id, at most once per interval. @throws as `current` */
  renewed(): Promise<Keys>;
  /** Renews old keys in the background. */
  freshen(): void;
  stop(): void;
}

/** What {@link createSigningKeys} needs. */
export interface SigningKeysOptions {
  readonly fetch: FetchKeys;
  now(): number;
  readonly outage: ReturnType<typeof createOutageLog>;
  /** Called when a key is no longer published, so that its tokens become invalid. */
  onWithdrawn(): void;
}

const RENEW_AFTER_MS = 5 * 60_000;
const DROP_AFTER_MS = 24 * 3_600_000; // of an unavailable provider; its tokens have expired by then
const UNKNOWN_KEY_PAUSE_MS = 10_000; // between two fetches because of tokens that name unknown keys
const RETRY = { firstMs: 1_000, maxMs: 30_000 };

/** Creates the key cache, which fetches on first use. */
export function createSigningKeys({ fetch, now, outage, onWithdrawn }: SigningKeysOptions): SigningKeys {
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
      fault = faultFrom(cause, 'REMOTE_UNAVAILABLE', 'the keys of the identity provider are invalid');
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

  const signingKeys: SigningKeys = {
    present() {
      if (keys === undefined || now() - keys.fetchedAtMs > DROP_AFTER_MS) return undefined;
      signingKeys.freshen();
      return keys;
    },
    async current() {
      return signingKeys.present() ?? loadOnce();
    },
    async renewed() {
      const isPausing = fetching === undefined && now() - triedAtMs < UNKNOWN_KEY_PAUSE_MS;
      // after a failure the keys are unknown until the next attempt
      return isPausing && failures === 0 && keys !== undefined ? keys : loadOnce();
    },
    freshen() {
      if (keys === undefined || now() - keys.fetchedAtMs < RENEW_AFTER_MS) return;
      loadOnce().catch(() => {}); // logged by the outage log; the old keys stay
    },
    stop: () => stopped.abort(),
  };
  return signingKeys;
}
