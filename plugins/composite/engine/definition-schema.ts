import type { JsonValue } from '@toolmgr/core';
import { goDuration } from '@toolmgr/plugins/kit/settings';
import { z } from 'zod';
import { MAX_STEPS } from './limits.ts';

const text = z.string();
const name = text
  .regex(
    /^[a-z0-9]([a-z0-9_-]*[a-z0-9])?$/,
    'expected lower-case letters, digits, "-" and "_", beginning and ending with a letter or digit',
  )
  .max(64, 'expected at most 64 characters');

const onError = z.strictObject({
  action: z.enum(['abort', 'continue', 'retry']).default('abort').describe('end the workflow, continue, or retry'),
  retryCount: z.int().min(1).optional().describe('further attempts, at most 10; only with retry'),
  retryDelay: goDuration
    .optional()
    .describe('wait before the first retry, then doubling, 1s by default; only with retry'),
});

const json: z.ZodType<JsonValue> = z.json();
const jsonMap = z.record(z.string(), json);

/** The keys of every step; its type adds others. */
export const commonStepKeys = {
  id: text
    .min(1, 'expected a name that is not empty')
    .max(128, 'expected at most 128 characters')
    .describe('its name in templates and dependsOn; unique'),
  type: text.min(1).optional().describe('tool, elicitation, forEach or a type of a plugin; tool by default'),
  condition: text.optional().describe('template; the step is skipped unless it renders true'),
  dependsOn: z.array(text).default([]).describe('ids of the steps that must end before this one starts'),
  timeout: goDuration.optional().describe('limit of all attempts together; 5m by default'),
  onError: onError.optional().describe('what happens when the step fails'),
  defaultResults: jsonMap.optional().describe('output of the step when it is skipped or fails with continue'),
};

const outputType = z.enum(['string', 'integer', 'number', 'boolean', 'object', 'array']);

/** One output property as configured. */
export interface OutputProperty {
  readonly type: z.output<typeof outputType>;
  readonly description?: string | undefined;
  readonly value?: string | undefined;
  readonly default?: JsonValue | undefined;
  readonly properties?: Readonly<Record<string, OutputProperty>> | undefined;
}

const outputProperty: z.ZodType<OutputProperty> = z.strictObject({
  type: outputType,
  description: text.optional(),
  value: text.optional().describe('template'),
  default: json.optional().describe('used when the template fails or does not render the type; converted to the type'),
  get properties() {
    return z.record(z.string(), outputProperty).optional();
  },
});

/** One step; the keys of its type are checked later. */
export const step = z.looseObject(commonStepKeys);

/** One configured composite tool. */
export const compositeToolOf = (each: typeof step) =>
  z.strictObject({
    name: name.describe('name of the tool; unique'),
    description: text.optional().describe('description that clients see'),
    parameters: jsonMap.optional().describe('JSON Schema of type object: the arguments of the tool'),
    timeout: goDuration.default(1_800_000).describe('limit of the whole workflow'),
    output: z
      .strictObject({
        properties: z.record(z.string(), outputProperty).describe('each with a type, and a value or properties'),
        required: z.array(text).default([]).describe('properties without which the workflow fails'),
      })
      .optional()
      .describe('result of the tool; without it the output of the last step'),
    authorizeSteps: z
      .boolean()
      .default(false)
      .describe('whether authorization and rate limits also apply to every step'),
    steps: z
      .array(each)
      .min(1, 'expected at least one step')
      .max(MAX_STEPS, `expected at most ${MAX_STEPS} steps`)
      .describe('each has the keys of every step and those of its type; types of plugins have others'),
  });

/** A parsed composite tool. */
export type CompositeDefinition = z.output<ReturnType<typeof compositeToolOf>>;

/** One of its steps; the keys of its type are not parsed yet. */
export type StepDefinition = CompositeDefinition['steps'][number];
