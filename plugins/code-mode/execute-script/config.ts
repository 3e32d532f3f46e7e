import { LONGEST_TIMER_MS } from '@toolmgr/core';
import { goDuration } from '@toolmgr/plugins/kit/settings';
import { z } from 'zod';

/** Longer timers than 24 days fire at once in Node. */
const timer = goDuration.transform((ms) => Math.min(ms, LONGEST_TIMER_MS));

/** Keys and defaults of the contract (VirtualMCPServer `spec.config.codeMode`); the keys after `toolCallTimeout` are extensions. */
export const codeModeConfig = z.strictObject({
  parallelMaxConcurrency: z
    .int()
    .min(1)
    .default(10)
    .describe('tool calls of one script in flight at the same time, with or without parallel()'),
  stepLimit: z
    .int()
    .min(1)
    .default(100_000)
    .describe('branches and calls that a script may execute; checked every 10,000 of them'),
  toolCallTimeout: timer
    .default(30_000)
    .describe('Go duration of one tool call; after it the call is cancelled and the script gets a TimeoutError'),
  // extensions
  scriptTimeout: timer.default(60_000).describe('Go duration of a whole script, its tool calls included'),
  memoryBytes: z
    .int()
    .min(16_777_216)
    .max(1_073_741_824)
    .default(67_108_864)
    .describe('bytes of memory of one script; the engine itself needs about 1 MB of it'),
  resultBytes: z.int().min(1).max(67_108_864).default(1_048_576).describe('bytes of the result of a script as JSON'),
  logBytes: z.int().min(0).max(1_048_576).default(65_536).describe('bytes of all log lines of one script'),
  maxToolCalls: z.int().min(1).max(100_000).default(1_000).describe('total tool calls of one script'),
  descriptionChars: z
    .int()
    .min(2_000)
    .max(1_000_000)
    .default(16_000)
    .describe("characters of the tool's description; the declarations of tools are trimmed to fit"),
  sandbox: z.string().min(1).default('quickjs').describe('name in the slot `sandboxes`'),
});

/** The configuration with its defaults; durations in milliseconds. */
export type CodeModeConfig = z.output<typeof codeModeConfig>;
