import { z } from 'zod';
import { DETECTORS } from './detectors.ts';

const KINDS = ['secret', 'personal'] as const;
const NAMES = [...KINDS, ...DETECTORS.map(({ name }) => name)];

const names = z.array(z.string().min(1)).min(1).max(1_000);

const rule = z.strictObject({
  direction: z
    .enum(['arguments', 'results'])
    .describe('arguments: what clients send to backends. results: what backends send to clients'),
  backends: names.optional().describe('only calls of these backends'),
  tools: names.optional().describe('only calls of these tools, by the names that clients see'),
  detectors: z
    .array(z.enum(NAMES))
    .min(1)
    .max(100)
    .describe('names of detectors, or `secret` and `personal` for all of a kind'),
  action: z
    .enum(['mask', 'block', 'report'])
    .describe(
      'mask: what is found is replaced by `[NAME]`. block: the call is refused, or its result is withheld. report: only reported',
    ),
});

/** `dataProtection` of a vmcp file. */
export const dataProtectionConfig = z.strictObject({
  rules: z
    .array(rule)
    .min(1)
    .max(100)
    .describe('for each finding the first rule counts whose direction, backends, tools and detectors fit'),
  maxTextBytes: z
    .int()
    .min(1_024)
    .max(16_777_216)
    .default(1_048_576)
    .describe('how many bytes of text are searched in the arguments of a call, and in its result'),
  longerText: z
    .enum(['block', 'pass'])
    .default('block')
    .describe('a call or a result with more text, where a rule masks or blocks; with rules that only report it passes'),
});

export type DataProtectionConfig = z.output<typeof dataProtectionConfig>;
