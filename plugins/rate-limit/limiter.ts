import {
  type Call,
  type Core,
  createOutageLog,
  explainCause,
  GatewayFault,
  type Refusal,
  type Store,
} from '@toolmgr/core';
import { bucketsOf } from './buckets.ts';
import type { RateLimitConfig } from './config.ts';

/** An outage is over when the store has answered and not failed for this long: one that flickers is one outage. */
const CALM_MS = 1_000;

/** Answers the stage `limit`. */
export interface Limiter {
  /** @throws GatewayFault SLOT_UNKNOWN when the plan has no such store */
  start(): void;
  /** Takes what the call needs: `undefined` when it may pass. */
  check(call: Call): Promise<Refusal | undefined> | undefined;
  /** Says how many calls went unlimited, when an outage lasts until the end. */
  stop(): void;
}

/** Makes a limiter. The store is looked up when it starts: plugins fill the slot in any order. */
export function createLimiter(core: Pick<Core, 'hooks' | 'slots' | 'log' | 'now'>, config: RateLimitConfig): Limiter {
  const drawnBy = bucketsOf(config);
  const unchecked = createUncheckedCalls(core, config);
  let store: Store;
  const take = async (call: Call, buckets: NonNullable<ReturnType<typeof drawnBy>>): Promise<Refusal | undefined> => {
    const nowMs = core.now();
    let waitMs: number;
    try {
      waitMs = await store.take(buckets, nowMs);
    } catch (cause) {
      return unchecked.failed(call, cause);
    }
    unchecked.answered();
    return waitMs === 0
      ? undefined
      : { refused: true, status: 429, reason: 'rate limit exceeded', retryAfterMs: waitMs };
  };
  return {
    start() {
      store = core.slots.stores.get(config.store);
    },
    check(call) {
      const buckets = drawnBy(call);
      return buckets === undefined || buckets.length === 0 ? undefined : take(call, buckets);
    },
    stop: unchecked.end,
  };
}

/** Decides about calls that no bucket can decide, and counts them: two log lines per outage, none per call. */
function createUncheckedCalls(core: Pick<Core, 'hooks' | 'log' | 'now'>, config: RateLimitConfig) {
  const { limitSkipped } = core.hooks;
  const outage = createOutageLog(core, {
    began: 'rate limits cannot be checked',
    over: 'rate limits were not checked for a while',
    overLevel: 'warn',
  });
  let lastMs = 0;
  let passed = 0;
  let refused = 0;
  const end = (): void => {
    outage.over({ passed, refused });
    passed = 0;
    refused = 0;
  };
  return {
    end,
    answered(): void {
      if (outage.isOn && core.now() - lastMs >= CALM_MS) end();
    },
    failed(call: Call, cause: unknown): Refusal | undefined {
      // A store that is full was filled by callers: letting them pass would let them lift the limit.
      const isFull = cause instanceof GatewayFault && cause.code === 'STORE_FULL';
      const passes = config.onStoreFailure === 'open' && !isFull;
      lastMs = core.now();
      outage.failed(cause, { calls: passes ? 'pass' : 'are refused' });
      if (passes) {
        passed += 1;
        if (limitSkipped.tapped()) limitSkipped.call({ call, cause: explainCause(cause) });
        return undefined;
      }
      refused += 1;
      return UNCHECKED;
    },
  };
}

/** Nobody can tell whether the limit is exceeded. */
const UNCHECKED: Refusal = {
  refused: true,
  status: 503,
  reason: 'rate limits cannot be checked at the moment',
  retryAfterMs: 1_000,
  headers: { 'retry-after': '1' },
};
