import { availableParallelism } from 'node:os';
import { LONGEST_TIMER_MS } from '@toolmgr/core';
import { goDuration } from '@toolmgr/plugins/kit/settings';
import { z } from 'zod';

/** Longer timers than 24 days fire at once in Node. */
const timer = goDuration.transform((ms) => Math.min(ms, LONGEST_TIMER_MS));

/** Limits of all scripts together. The limits of one script come from `code-mode/execute-script`. */
export const quickjsConfig = z.strictObject({
  workers: z
    .int()
    .min(1)
    .max(256)
    .default(16)
    .describe('scripts that run at the same time, each on its own thread; threads start on demand'),
  processors: z
    .int()
    .min(1)
    .max(256)
    .optional()
    .describe(
      'scripts that compute at the same time; a script that waits for tools does not count. Default: the number of processors minus one, at least one',
    ),
  cpuPerCaller: timer
    .refine((ms) => ms > 0, 'expected more than 0s')
    .default(30_000)
    .describe(
      "Go duration that one caller's scripts may compute in each `cpuWindow`; after it they end, and new ones are refused",
    ),
  cpuWindow: timer
    .refine((ms) => ms > 0, 'expected more than 0s')
    .default(60_000)
    .describe('Go duration, see `cpuPerCaller`'),
  warm: z.int().min(0).max(256).default(1).describe('idle threads that are kept; others end after `idleTimeout`'),
  idleTimeout: timer.default(60_000).describe('Go duration after which an idle thread ends'),
  queue: z
    .int()
    .min(0)
    .max(10_000)
    .default(128)
    .describe('scripts that may wait for a thread; further ones are refused'),
  queueTimeout: timer.default(30_000).describe('Go duration a script waits for a thread before it is refused'),
});

/** The number of scripts that compute at the same time; one processor stays free for requests. */
export function processorsFor({ processors }: QuickjsConfig): number {
  return processors ?? Math.max(1, availableParallelism() - 1);
}

/** The configuration with its defaults. */
export type QuickjsConfig = z.output<typeof quickjsConfig>;
