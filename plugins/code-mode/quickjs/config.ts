import { availableParallelism } from 'node:os';
import { LONGEST_TIMER_MS } from '@toolmgr/core';
import { z } from 'zod';
import { goDuration } from '../../shared/go-duration.ts';

/** Node's timers end at 24 days; a longer time would be none. */
const timer = goDuration.transform((ms) => Math.min(ms, LONGEST_TIMER_MS));

/** How many scripts run and wait. What one script may do is said where scripts are taken. */
export const quickjsConfig = z.strictObject({
  workers: z
    .int()
    .min(1)
    .max(256)
    .default(16)
    .describe(
      'scripts that are open at the same time, each on a thread of its own; threads start when they are needed',
    ),
  processors: z
    .int()
    .min(1)
    .max(256)
    .optional()
    .describe(
      'scripts that compute at the same time; one that waits for its tools does not. Default: the processors of the machine less one, at least one',
    ),
  cpuPerCaller: timer
    .refine((ms) => ms > 0, 'expected more than 0s')
    .default(30_000)
    .describe(
      "Go duration that one caller's scripts may compute in each `cpuWindow`; then they end, and new ones are refused",
    ),
  cpuWindow: timer
    .refine((ms) => ms > 0, 'expected more than 0s')
    .default(60_000)
    .describe('Go duration, see `cpuPerCaller`'),
  warm: z
    .int()
    .min(0)
    .max(256)
    .default(1)
    .describe('threads that are kept ready; others end when they have been idle for `idleTimeout`'),
  idleTimeout: timer.default(60_000).describe('Go duration after which an idle thread ends'),
  queue: z.int().min(0).max(10_000).default(128).describe('scripts that may wait for a thread; one more is refused'),
  queueTimeout: timer.default(30_000).describe('Go duration a script waits for a thread before it is refused'),
});

/** How many scripts compute at the same time: the thread that serves requests keeps a processor. */
export function processorsFor({ processors }: QuickjsConfig): number {
  return processors ?? Math.max(1, availableParallelism() - 1);
}

/** The configuration with its defaults. */
export type QuickjsConfig = z.output<typeof quickjsConfig>;
