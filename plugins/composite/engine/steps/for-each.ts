import type { JsonObject, JsonValue, StepOutput, StepRunContext, StepTemplate, StepType } from '@toolmgr/core';
import { z } from 'zod';
import { attempt, type Policy, policyFrom } from '../attempts.ts';
import { valueFromText } from '../coerce.ts';
import { type Condition, conditionFrom } from '../condition.ts';
import { commonStepKeys } from '../definition-schema.ts';
import { MAX_ITERATIONS, MAX_PARALLEL_ITERATIONS } from '../limits.ts';
import { runParallel } from '../run-parallel.ts';
import { StepFailure } from '../step-failure.ts';
import { toolKeys } from './tool.ts';

const { condition, timeout, onError, defaultResults } = commonStepKeys;
const inner = z.strictObject({
  id: commonStepKeys.id.optional(),
  type: z.literal('tool').default('tool').describe('only tool steps are repeated'),
  condition,
  timeout,
  onError,
  defaultResults,
  ...toolKeys,
});

const options = z.strictObject({
  collection: z.string().min(1, 'expected a template').describe('template that renders a JSON array'),
  itemVar: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'expected letters, digits and "_", not beginning with a digit')
    .refine((name) => name !== 'index', 'index is the number of the item; expected another name')
    .default('item')
    .describe('name of the item in `.forEach`'),
  maxIterations: z.int().min(0).max(MAX_ITERATIONS).default(100).describe('more items are an error; 0 means 100'),
  maxParallel: z.int().min(0).default(10).describe('items in parallel, at most 50; 0 means 10'),
  step: inner.describe('a tool step; its templates can also read `.forEach`'),
});

/** Calls one tool for each item of a list. Source: vmcp spec §2 compositeTools, forEach fields, §8. */
export const forEachStep: StepType<typeof options> = {
  options,
  compile(given, compiling) {
    const { itemVar, step } = given;
    const adds = { forEach: [itemVar, 'index'] };
    const collection = compiling.template(given.collection, ['collection']);
    const conditionText = step.condition;
    const loop: Loop = {
      itemVar,
      maxIterations: given.maxIterations || 100,
      maxParallel: Math.min(given.maxParallel || 10, MAX_PARALLEL_ITERATIONS),
      tool: step.tool,
      arguments: compiling.templates((step.arguments ?? {}) as JsonObject, ['step', 'arguments'], adds),
      condition:
        conditionText === undefined
          ? undefined
          : conditionFrom(conditionText, compiling.template(conditionText, ['step', 'condition'], adds)),
      policy: policyFrom(step),
      defaults: step.defaultResults as JsonObject | undefined,
      toleratesFailures: compiling.onError === 'continue' || step.onError?.action === 'continue',
    };
    compiling.tool(step.tool);
    return { run: (running) => runLoop(loop, itemsOf(collection.render(running.data), loop), running) };
  },
};

interface Loop {
  readonly itemVar: string;
  readonly maxIterations: number;
  readonly maxParallel: number;
  readonly tool: string;
  readonly arguments: StepTemplate<JsonObject>;
  readonly condition: Condition | undefined;
  readonly policy: Policy;
  readonly defaults: JsonObject | undefined;
  readonly toleratesFailures: boolean;
}

function itemsOf(text: string, { maxIterations }: Loop): readonly JsonValue[] {
  const items = valueFromText(text, 'array');
  if (!Array.isArray(items)) {
    throw new StepFailure('collection is not a JSON array; write a list with json, e.g. {{ json .params.list }}');
  }
  if (items.length > maxIterations) {
    throw new StepFailure(`collection has ${items.length} items, more than maxIterations (${maxIterations})`);
  }
  return items as readonly JsonValue[];
}

interface Iteration {
  readonly index: number;
  readonly item: JsonValue;
  readonly status: 'completed' | 'failed' | 'cancelled' | 'skipped';
  readonly output: JsonValue;
  readonly error?: string;
}

async function runLoop(loop: Loop, items: readonly JsonValue[], running: StepRunContext): Promise<StepOutput> {
  const ended = new AbortController();
  const signal = AbortSignal.any([running.signal, ended.signal]);
  let failure: unknown;
  const iterations: Iteration[] = items.map((item, index) => ({ index, item, status: 'cancelled', output: null }));
  await runParallel(items, loop.maxParallel, signal, async (item, index) => {
    try {
      iterations[index] = { index, item, ...(await iterate(loop, item, index, running, signal)) };
    } catch (cause) {
      if (signal.aborted) return; // keeps the status cancelled
      if (!(cause instanceof StepFailure) || !loop.toleratesFailures) {
        failure ??= cause;
        return ended.abort();
      }
      iterations[index] = { index, item, status: 'failed', output: loop.defaults ?? null, error: cause.message };
    }
  });
  running.signal.throwIfAborted();
  if (failure !== undefined) throw failure;
  const count = (status: Iteration['status']): number => iterations.filter((each) => each.status === status).length;
  const output = {
    iterations: iterations as unknown as readonly JsonValue[],
    count: items.length,
    completed: count('completed'),
    failed: count('failed'),
  };
  return { output };
}

async function iterate(
  loop: Loop,
  item: JsonValue,
  index: number,
  running: StepRunContext,
  signal: AbortSignal,
): Promise<Pick<Iteration, 'status' | 'output'>> {
  const data: JsonObject = { ...running.data, forEach: { [loop.itemVar]: item, index } };
  if (loop.condition?.holds(data) === false) return { status: 'skipped', output: loop.defaults ?? {} };
  const { output } = await attempt(loop.policy, signal, (each) =>
    running.callTool(loop.tool, loop.arguments.render(data), each),
  );
  return { status: 'completed', output };
}
