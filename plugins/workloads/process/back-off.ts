import { backOffMs } from '@toolmgr/core';

/** When and how often a program that ended is started again. */
export interface RestartPolicy {
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  /** A program that ran this long is healthy again: the next end counts as the first. */
  readonly resetAfterMs: number;
  /** Restarts in a row before it is given up. */
  readonly maxRestarts: number;
}

/** 1 s, 2 s, 4 s … 30 s; counted anew after a minute of life; given up after ten in a row. */
export const RESTART_POLICY: RestartPolicy = {
  firstDelayMs: 1_000,
  maxDelayMs: 30_000,
  resetAfterMs: 60_000,
  maxRestarts: 10,
};

/**
 * Says how long to wait before the next restart.
 *
 * Shape: `restarts` counts the ones in a row so far, this life included when it was short.
 * Result: milliseconds and the new count, or `undefined` when it is to be given up.
 */
export function nextRestart(
  policy: RestartPolicy,
  restarts: number,
  livedMs: number,
): { readonly delayMs: number; readonly restarts: number } | undefined {
  const before = livedMs >= policy.resetAfterMs ? 0 : restarts;
  if (before >= policy.maxRestarts) return undefined;
  const { firstDelayMs: firstMs, maxDelayMs: maxMs } = policy;
  return { delayMs: backOffMs(before + 1, { firstMs, maxMs, jitter: 0 }), restarts: before + 1 };
}
