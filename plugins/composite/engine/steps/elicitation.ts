import type { Elicited, JsonObject, JsonValue, StepOutput, StepType } from '@toolmgr/core';
import { z } from 'zod';
import { MAX_DEPTH, MAX_QUESTION_MS, MAX_SCHEMA_BYTES, STEP_TIMEOUT_MS } from '../limits.ts';
import { bytesOf, compileSchema, depthOf } from '../schema-check.ts';
import { StepFailure } from '../step-failure.ts';

const answer = z.strictObject({
  action: z
    .enum(['skip_remaining', 'abort', 'continue'])
    .default('abort')
    .describe('skip the steps that are left, end the workflow with an error, or continue'),
});

const options = z.strictObject({
  message: z.string().min(1, 'expected a text that is not empty').describe('template; the text that the user sees'),
  schema: z.record(z.string(), z.json()).describe('JSON Schema of the form'),
  onDecline: answer.optional().describe('when the user declines'),
  onCancel: answer.optional().describe('when the user cancels or answers too late'),
});

/** Asks the user for input. Source: vmcp spec §2 compositeTools, elicitation fields. */
export const elicitationStep: StepType<typeof options> = {
  options,
  compile({ message, schema, onDecline, onCancel }, compiling) {
    const form: JsonObject = { type: 'object', ...(schema as JsonObject) }; // one object for all runs, so that it is compiled once
    if (bytesOf(form) > MAX_SCHEMA_BYTES) compiling.problem(['schema'], `larger than ${MAX_SCHEMA_BYTES} bytes`);
    if (depthOf(form, MAX_DEPTH) > MAX_DEPTH) compiling.problem(['schema'], `nested more than ${MAX_DEPTH} deep`);
    if (form.type !== 'object') compiling.problem(['schema', 'type'], 'expected object');
    const compiled = compileSchema(form);
    if ('problem' in compiled) compiling.problem(['schema'], compiled.problem);
    const template = compiling.template(message, ['message']);
    const actions = { decline: onDecline?.action ?? 'abort', cancel: onCancel?.action ?? 'abort' };
    return {
      keepsTime: { defaultMs: STEP_TIMEOUT_MS, maxMs: MAX_QUESTION_MS },
      run: async ({ data, elicit }) =>
        outputOf(await elicit({ message: template.render(data), schema: form }), actions),
    };
  },
};

type Action = 'skip_remaining' | 'abort' | 'continue';

const REASONS = { decline: 'declined by user', cancel: 'cancelled by user', timeout: 'timed out' } as const;

function outputOf({ action, content = {} }: Elicited, actions: { decline: Action; cancel: Action }): StepOutput {
  if (action === 'accept') return { output: { action, content: content as JsonValue } };
  const wanted = action === 'decline' ? actions.decline : actions.cancel;
  if (wanted === 'abort') throw new StepFailure(REASONS[action]);
  return wanted === 'continue' ? { output: { action } } : { output: { action, skipped: true }, skipsRest: true };
}
