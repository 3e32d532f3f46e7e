import {
  type Call,
  type Core,
  createOutageLog,
  explainCause,
  GatewayFault,
  type Refusal,
  type Store,
} from '@toolmgr/core';
import { limitSkipped } from '@toolmgr/plugins/kit/extension-points';

import { bucketsOf } from './buckets.ts';
import type { RateLimitConfig } from './config.ts';

/** An outage ends when the store has worked for this long without errors. */
const RECOVERY_MS = 1_000;

/** Implements the stage `limit`. */
export interface Limiter {
  /** @throws GatewayFault SLOT_UNKNOWN when the plan has no such store */
  start(): void;
  /** Takes the tokens of a call: `undefined` when it is allowed. */
  check(call: Call): Promise<Refusal | undefined> | undefined;
  /** Logs the number of unlimited calls when an outage lasts until the stop. */
  stop(): void;
}

/** Creates a limiter. The store is looked up at the start, because plugins register stores in any order. */
export function createLimiter(core: Pick<Core, 'hook' | 'slots' | 'log' | 'now'>, config: RateLimitConfig): Limiter {
  const bucketsFor = bucketsOf(config);
  const unchecked = createUncheckedCalls(core, config);
  let store: Store;
  const take = async (
    call: Call,
    buckets: NonNullable<ReturnType<typeof bucketsFor>>,
  ): Promise<Refusal | undefined> => {
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
      store = core.slots.stores.get(config.store ?? 'memory');
    },
    check(call) {
      const buckets = bucketsFor(call);
      return buckets === undefined || buckets.length === 0 ? undefined : take(call, buckets);
    },
    stop: unchecked.end,
  };
}

/** Allows or refuses calls while the store fails, and counts them: two log lines per outage. */
function createUncheckedCalls(core: Pick<Core, 'hook' | 'log' | 'now'>, config: RateLimitConfig) {
  const skipped = core.hook(limitSkipped);
  const outage = createOutageLog(core, {
    began: 'rate limits cannot be checked',
    over: 'rate limits are checked again',
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
      if (outage.isOn && core.now() - lastMs >= RECOVERY_MS) end();
    },
    failed(call: Call, cause: unknown): Refusal | undefined {
      // Callers can fill the store; allowing calls then would let them remove the limit.
      const isFull = cause instanceof GatewayFault && cause.code === 'STORE_FULL';
      const passes = config.onStoreFailure === 'open' && !isFull;
      lastMs = core.now();
      outage.failed(cause, { calls: passes ? 'pass' : 'are refused' });
      if (passes) {
        passed += 1;
        if (skipped.tapped()) skipped.call({ call, cause: explainCause(cause) });
        return undefined;
      }
      refused += 1;
      return UNCHECKED;
    },
  };
}

/** The limit cannot be checked. */
const UNCHECKED: Refusal = {
  refused: true,
  status: 503,
  reason: 'rate limits cannot be checked at the moment',
  retryAfterMs: 1_000,
  headers: { 'retry-after': '1' },
};
