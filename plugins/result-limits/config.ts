import { goDuration, uniqueNames } from '@toolmgr/plugins/kit/settings';
import { z } from 'zod';

/** A budget is larger than what the caller gets instead of the result. */
const SMALLEST_BYTES = 4_096;
const SMALLEST_TOKENS = 1_024;

const bytes = z.int().min(SMALLEST_BYTES).optional().describe('most bytes of a result as JSON');
const estimatedTokens = z
  .int()
  .min(SMALLEST_TOKENS)
  .optional()
  .describe('most tokens of a result, estimated as its bytes as JSON divided by 4');

const tool = z.strictObject({
  name: z.string().min(1, 'expected a name that is not empty').describe('name that clients see'),
  bytes,
  estimatedTokens,
});

const byDefault = z.strictObject({ bytes, estimatedTokens }).superRefine((budget, context) => {
  if (budget.bytes !== undefined || budget.estimatedTokens !== undefined) return;
  context.addIssue({ code: 'custom', message: 'expected bytes or estimatedTokens' });
});

/** `resultLimits` of a vmcp file. */
export const resultLimitsConfig = z.strictObject({
  default: byDefault.optional().describe('budget of each tool that `tools` does not name; without it they have none'),
  tools: z
    .array(tool)
    .superRefine(uniqueNames)
    .default([])
    .describe('budgets of single tools, in place of `default`; a tool with neither number has none'),
  keepFor: goDuration.prefault('10m').describe('Go duration for which a result over its budget can be read'),
  bytesPerCaller: z
    .int()
    .min(65_536)
    .default(16_777_216)
    .describe('bytes of the kept results of one caller, encrypted; the oldest ones make space for new ones'),
  bytesTotal: z
    .int()
    .min(65_536)
    .default(134_217_728)
    .describe('bytes of the kept results of all callers, in each replica; without space a result is not kept'),
  store: z
    .string()
    .min(1)
    .optional()
    .describe('name in the slot `stores`: memory, redis; by default that of `sessionStorage`, else memory'),
});

/** The parsed configuration; durations in milliseconds. */
export type ResultLimitsConfig = z.output<typeof resultLimitsConfig>;
