import { LONGEST_TIMER_MS } from '@toolmgr/core';
import { z } from 'zod';
import { goDuration } from '../../shared/go-duration.ts';

/** Node's timers end at 24 days; a longer time would be none. */
const timer = goDuration.transform((ms) => Math.min(ms, LONGEST_TIMER_MS));

/** Keys and defaults of the contract (VirtualMCPServer `spec.config.codeMode`); below the line what is ours. */
export const codeModeConfig = z.strictObject({
  parallelMaxConcurrency: z
    .int()
    .min(1)
    .default(10)
    .describe('tool calls of one script that are in flight at the same time, whether by parallel() or otherwise'),
  stepLimit: z
    .int()
    .min(1)
    .default(100_000)
    .describe('branches and calls a script may take; the engine looks every 10,000 of them'),
  toolCallTimeout: timer
    .default(30_000)
    .describe('Go duration of one tool call; then it is cancelled and the script gets a TimeoutError'),
  // ours
  scriptTimeout: timer.default(60_000).describe('Go duration of a whole script, its tool calls included'),
  memoryBytes: z
    .int()
    .min(16_777_216)
    .max(1_073_741_824)
    .default(67_108_864)
    .describe('memory of one script; the engine itself takes some 1 MB of it'),
  resultBytes: z.int().min(1).max(67_108_864).default(1_048_576).describe('largest result of a script as JSON'),
  logBytes: z.int().min(0).max(1_048_576).default(65_536).describe('log lines of one script together'),
  maxToolCalls: z.int().min(1).max(100_000).default(1_000).describe('tool calls of one script in all'),
  descriptionChars: z
    .int()
    .min(2_000)
    .max(1_000_000)
    .default(16_000)
    .describe("length of the tool's description; the declarations of tools are trimmed to it"),
  sandbox: z.string().min(1).default('quickjs').describe('name in the slot `sandboxes`'),
});

/** The configuration with its defaults; durations in milliseconds. */
export type CodeModeConfig = z.output<typeof codeModeConfig>;
