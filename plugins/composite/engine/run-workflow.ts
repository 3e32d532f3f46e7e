import type { JsonValue } from '@toolmgr/core';
import type { WorkflowAdvanced } from '@toolmgr/plugins/kit/extension-points';

import type { WorkflowStep } from './compile-step.ts';
import type { Workflow } from './compile-workflow.ts';
import { DeadlineExceeded, untilDeadline } from './deadline.ts';
import { MAX_PARALLEL_STEPS } from './limits.ts';
import { runParallel } from './run-parallel.ts';
import { runStep, type StepContext } from './run-step.ts';
import { StepFailure, Suspended } from './step-failure.ts';
import { dataOf, type WorkflowState } from './workflow-state.ts';

/** How a run ended; `isWaiting` when it waits for answers. */
export type WorkflowEnd =
  | { readonly output: JsonValue }
  | { readonly failed: string }
  | { readonly isTimedOut: true }
  | { readonly isWaiting: true };

/** What {@link runWorkflow} needs from its caller. */
export interface RunContext {
  readonly signal: AbortSignal;
  now(): number;
  running: StepContext['running'];
  tell(change: WorkflowAdvanced['change'], more: Partial<WorkflowAdvanced>, step?: WorkflowStep): void;
  /** Called with the number of ended steps, for progress. */
  stepsEnded(count: number): void;
  report: StepContext['report'];
}

/**
 * Runs the remaining steps of a workflow, level by level; at most ten steps of a level run in parallel.
 *
 * A failure that ends the workflow aborts the other steps of its level. When steps wait for answers, the others of their
 * level end first. Changes `state` in place; call again with it when the answers have arrived.
 * @throws the abort reason of the signal
 */
export async function runWorkflow(workflow: Workflow, state: WorkflowState, context: RunContext): Promise<WorkflowEnd> {
  const leftMs = workflow.timeoutMs - (context.now() - state.startedMs);
  if (leftMs <= 0) return timedOut(state);
  try {
    const end = await untilDeadline(context.signal, leftMs, (signal) => runLevels(workflow, state, context, signal));
    if (!('isWaiting' in end)) state.status = 'failed' in end ? 'failed' : 'completed';
    return end;
  } catch (cause) {
    if (cause instanceof DeadlineExceeded) return timedOut(state);
    throw cause;
  }
}

function timedOut(state: WorkflowState): WorkflowEnd {
  state.status = 'timed_out';
  return { isTimedOut: true };
}

async function runLevels(
  workflow: Workflow,
  state: WorkflowState,
  context: RunContext,
  signal: AbortSignal,
): Promise<WorkflowEnd> {
  for (const level of workflow.levels) {
    const open = level.filter(({ id }) => state.steps[id]?.status === 'pending');
    if (state.skipsRest) {
      for (const step of open) skip(step, state, context);
      continue;
    }
    const failure = await runLevel(open, workflow, state, context, signal);
    signal.throwIfAborted();
    if (failure !== undefined) return { failed: failure };
    if (Object.keys(state.questions).length > 0) {
      state.status = 'waiting_for_elicitation';
      return { isWaiting: true };
    }
  }
  return outputOf(workflow, state, context.now());
}

function skip(step: WorkflowStep, state: WorkflowState, context: RunContext): void {
  state.steps[step.id] = { status: 'skipped', output: step.defaults ?? {} };
  context.tell('step_skipped', { atMs: context.now() }, step);
}

/** Runs one level; returns the message of the first failure that ends the workflow. */
async function runLevel(
  open: readonly WorkflowStep[],
  workflow: Workflow,
  state: WorkflowState,
  context: RunContext,
  parent: AbortSignal,
): Promise<string | undefined> {
  const siblings = new AbortController();
  const signal = AbortSignal.any([parent, siblings.signal]);
  const stepContext: StepContext = {
    state,
    stepCount: workflow.stepCount,
    signal,
    now: context.now,
    running: context.running,
    tell: (change, step, more = {}) => context.tell(change, more, step),
    report: context.report,
  };
  let failure: string | undefined;
  let fault: unknown;
  await runParallel(open, MAX_PARALLEL_STEPS, signal, async (step) => {
    try {
      await runStep(step, stepContext);
      context.stepsEnded(endedIn(state));
    } catch (cause) {
      if (cause instanceof Suspended || signal.aborted) return;
      if (cause instanceof StepFailure) failure ??= inStep(step, cause.message);
      else fault ??= cause;
      siblings.abort(new StepFailure('another step failed'));
    }
  });
  if (fault !== undefined) throw fault;
  return failure;
}

function endedIn({ steps }: WorkflowState): number {
  return Object.values(steps).filter(({ status }) => status !== 'pending' && status !== 'running').length;
}

/** Adds the step to an error text; tool failures name their step already. */
function inStep({ id, type }: WorkflowStep, message: string): string {
  if (type === 'elicitation') return `elicitation in step ${id}: ${message}`;
  return message.includes(` in step ${id}`) ? message : `step ${id}: ${message}`;
}

/** The defined output; by default the output of the last completed step, ordered by level and file. */
function outputOf(workflow: Workflow, state: WorkflowState, nowMs: number): WorkflowEnd {
  if (workflow.output !== undefined) {
    try {
      return { output: workflow.output.build(dataOf(state, workflow.stepCount, nowMs)) };
    } catch (cause) {
      if (cause instanceof StepFailure) return { failed: `output construction failed: ${cause.message}` };
      throw cause;
    }
  }
  const last = workflow.levels
    .flat()
    .filter(({ id }) => state.steps[id]?.status === 'completed')
    .at(-1);
  return { output: (last === undefined ? undefined : state.steps[last.id]?.output) ?? {} };
}
