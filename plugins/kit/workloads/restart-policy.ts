import { backOffMs } from '@toolmgr/core';
import { z } from 'zod';

/** When and how often an ended program or container is started again. */
export interface RestartPolicy {
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  /** After running this long, the number of restarts is reset. */
  readonly resetAfterMs: number;
  /** Maximum consecutive restarts. */
  readonly maxRestarts: number;
}

/**
 * Delays of 5, 10, 20, 40 and 60 s; reset after 30 s of running; given up after ten consecutive restarts.
 *
 * Source: reference run-command §10.5.
 */
export const RESTART_POLICY: RestartPolicy = {
  firstDelayMs: 5_000,
  maxDelayMs: 60_000,
  resetAfterMs: 30_000,
  maxRestarts: 10,
};

/** The settings of a policy in the configuration of a plugin. */
export const restartSettings = z
  .strictObject({
    firstDelayMs: z.int().min(1).default(RESTART_POLICY.firstDelayMs).describe('delay before the first restart'),
    maxDelayMs: z.int().min(1).default(RESTART_POLICY.maxDelayMs).describe('longest delay between restarts'),
    resetAfterMs: z
      .int()
      .min(1)
      .default(RESTART_POLICY.resetAfterMs)
      .describe('running time after which the number of restarts is reset'),
    maxRestarts: z.int().min(0).default(RESTART_POLICY.maxRestarts).describe('maximum consecutive restarts'),
  })
  .prefault({});

/** Settings of a plugin whose program is not started again. */
export const NO_RESTARTS = { restart: { maxRestarts: 0 } } as const;

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
