import { backOffMs } from '@toolmgr/core';

/** When and how often an ended program is restarted. */
export interface RestartPolicy {
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  /** After running this long, the number of restarts is reset. */
  readonly resetAfterMs: number;
  /** Maximum consecutive restarts. */
  readonly maxRestarts: number;
}

/** Delays of 1 s, 2 s, 4 s … 30 s; reset after a minute of running; given up after ten consecutive restarts. */
export const RESTART_POLICY: RestartPolicy = {
  firstDelayMs: 1_000,
  maxDelayMs: 30_000,
  resetAfterMs: 60_000,
  maxRestarts: 10,
};

/**
 * Computes the delay before the next restart.
 *
 * Shape: `restarts` is the number of consecutive restarts so far.
 * Result: milliseconds and the new count, or `undefined` to give up.
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
