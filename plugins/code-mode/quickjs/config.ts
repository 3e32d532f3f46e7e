import { z } from 'zod';
import { goDuration } from '../../shared/go-duration.ts';

/** Node's timers end at 24 days; a longer time would be none. */
const timer = goDuration.transform((ms) => Math.min(ms, 2_147_483_647));

/** How many scripts run and wait. What one script may do is said where scripts are taken. */
export const quickjsConfig = z.strictObject({
  workers: z
    .int()
    .min(1)
    .max(256)
    .default(16)
    .describe('scripts that run at the same time, each on a thread of its own; threads start when they are needed'),
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

/** The configuration with its defaults. */
export type QuickjsConfig = z.output<typeof quickjsConfig>;
