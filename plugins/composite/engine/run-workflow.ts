import type { JsonValue, WorkflowAdvanced } from '@toolmgr/core';
import type { WorkflowStep } from './compile-step.ts';
import type { Workflow } from './compile-workflow.ts';
import { TimeOver, untilDeadline } from './deadline.ts';
import { MAX_PARALLEL_STEPS } from './limits.ts';
import { inPool } from './pool.ts';
import { runStep, type StepSurroundings } from './run-step.ts';
import { dataOf, type WorkflowState } from './state.ts';
import { StepFailure, Suspended } from './step-failure.ts';

/** How a run ended, or that it waits for answers. */
export type WorkflowEnd =
  | { readonly output: JsonValue }
  | { readonly failed: string }
  | { readonly isTimeOver: true }
  | { readonly isWaiting: true };

/** What a run needs from outside. */
export interface WorkflowSurroundings {
  readonly signal: AbortSignal;
  now(): number;
  running: StepSurroundings['running'];
  tell(change: WorkflowAdvanced['change'], more: Partial<WorkflowAdvanced>, step?: WorkflowStep): void;
  /** Steps that have ended, for progress. */
  ended(count: number): void;
  report: StepSurroundings['report'];
}

/**
 * Runs what is left of a workflow, level by level; the steps of a level run at once, ten at most.
 *
 * A failure that counts ends the other steps of its level and the workflow. Steps that wait for answers let the others of
 * their level end first. `state` is changed in place and can be given again when the answers are there.
 * @throws the reason of the signal when that aborted
 */
export async function runWorkflow(
  workflow: Workflow,
  state: WorkflowState,
  around: WorkflowSurroundings,
): Promise<WorkflowEnd> {
  const leftMs = workflow.timeoutMs - (around.now() - state.startedMs);
  if (leftMs <= 0) return timeOver(state);
  try {
    const end = await untilDeadline(around.signal, leftMs, (signal) => runLevels(workflow, state, around, signal));
    if (!('isWaiting' in end)) state.status = 'failed' in end ? 'failed' : 'completed';
    return end;
  } catch (cause) {
    if (cause instanceof TimeOver) return timeOver(state);
    throw cause;
  }
}

function timeOver(state: WorkflowState): WorkflowEnd {
  state.status = 'timed_out';
  return { isTimeOver: true };
}

async function runLevels(
  workflow: Workflow,
  state: WorkflowState,
  around: WorkflowSurroundings,
  signal: AbortSignal,
): Promise<WorkflowEnd> {
  for (const level of workflow.levels) {
    const open = level.filter(({ id }) => state.steps[id]?.status === 'pending');
    if (state.skipsRest) {
      for (const step of open) skip(step, state, around);
      continue;
    }
    const failure = await runLevel(open, workflow, state, around, signal);
    signal.throwIfAborted();
    if (failure !== undefined) return { failed: failure };
    if (Object.keys(state.questions).length > 0) {
      state.status = 'waiting_for_elicitation';
      return { isWaiting: true };
    }
  }
  return outputOf(workflow, state, around.now());
}

function skip(step: WorkflowStep, state: WorkflowState, around: WorkflowSurroundings): void {
  state.steps[step.id] = { status: 'skipped', output: step.defaults ?? {} };
  around.tell('step_skipped', { atMs: around.now() }, step);
}

/** Runs one level; the sentence of the first failure that ends the workflow. */
async function runLevel(
  open: readonly WorkflowStep[],
  workflow: Workflow,
  state: WorkflowState,
  around: WorkflowSurroundings,
  parent: AbortSignal,
): Promise<string | undefined> {
  const siblings = new AbortController();
  const signal = AbortSignal.any([parent, siblings.signal]);
  const surroundings: StepSurroundings = {
    state,
    stepCount: workflow.stepCount,
    signal,
    now: around.now,
    running: around.running,
    tell: (change, step, more = {}) => around.tell(change, more, step),
    report: around.report,
  };
  let failure: string | undefined;
  let fault: unknown;
  await inPool(open, MAX_PARALLEL_STEPS, signal, async (step) => {
    try {
      await runStep(step, surroundings);
      around.ended(endedIn(state));
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

/** What the workflow says about a failed step; tool failures name their step already. */
function inStep({ id, type }: WorkflowStep, message: string): string {
  if (type === 'elicitation') return `elicitation in step ${id}: ${message}`;
  return message.includes(` in step ${id}`) ? message : `step ${id}: ${message}`;
}

/** The output as defined; without a definition that of the last step, in the order of levels and file, that completed. */
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
