import { CallError, type StepOutput, type StepRunning, type WorkflowAdvanced } from '@toolmgr/core';
import { attempt } from './attempts.ts';
import type { WorkflowStep } from './compile-step.ts';
import { TimeOver, withDeadline } from './deadline.ts';
import type { StepState, WorkflowState } from './state.ts';
import { dataOf } from './state.ts';
import { StepFailure, Suspended } from './step-failure.ts';

/** What running one step needs of its workflow. */
export interface StepSurroundings {
  readonly state: WorkflowState;
  readonly stepCount: number;
  readonly signal: AbortSignal;
  now(): number;
  /** What a step may do, with the signal of one attempt. */
  running(step: WorkflowStep, data: StepRunning['data'], signal: AbortSignal): StepRunning;
  tell(change: WorkflowAdvanced['change'], step: WorkflowStep, more?: Partial<WorkflowAdvanced>): void;
  /** A step threw what is no failure of its own: worth a line in the log. */
  report(step: WorkflowStep, cause: unknown): void;
}

/**
 * Runs one step: condition, attempts, what its failure means. Its state is written to `state`.
 * @throws StepFailure when the failure ends the workflow; Suspended when it waits; the reason of the signal when that aborted
 */
export async function runStep(step: WorkflowStep, around: StepSurroundings): Promise<void> {
  const { state, signal } = around;
  const own: StepState = { status: 'running' };
  const startedMs = around.now();
  try {
    const data = dataOf(state, around.stepCount, startedMs);
    if (step.condition?.holds(data) === false) {
      state.steps[step.id] = { status: 'skipped', output: step.defaults ?? {} };
      return around.tell('step_skipped', step, { condition: step.condition.text });
    }
    state.steps[step.id] = own;
    around.tell('step_started', step, step.condition === undefined ? {} : { condition: step.condition.text });
    let retries = 0;
    const output = await outputOf(step, around, data, () => {
      retries++;
      state.retries++;
    });
    settle(own, output, state);
    around.tell('step_completed', step, {
      durationMs: around.now() - startedMs,
      ...(retries === 0 ? {} : { retryCount: retries }),
    });
  } catch (cause) {
    if (cause instanceof Suspended) {
      state.steps[step.id] = { status: 'pending' };
      throw cause;
    }
    if (cause instanceof CallError) throw cause; // decides the answer of the whole call
    const failure = failureFrom(cause, step, around);
    state.steps[step.id] = { ...own, status: 'failed', error: failure.message, ...withDefaults(step) };
    around.tell('step_failed', step, { durationMs: around.now() - startedMs });
    signal.throwIfAborted();
    if (step.policy.action !== 'continue') throw failure;
  }
}

function settle(own: StepState, { output, content, skipsRest }: StepOutput, state: WorkflowState): void {
  own.status = 'completed';
  own.output = output;
  if (content !== undefined) own.content = content;
  if (skipsRest) state.skipsRest = true;
}

function withDefaults({ defaults, policy }: WorkflowStep): Pick<StepState, 'output'> {
  return policy.action === 'continue' && defaults !== undefined ? { output: defaults } : {};
}

/** A step that keeps its own time gets its signal as it is; its output still has to come. */
async function outputOf(
  step: WorkflowStep,
  around: StepSurroundings,
  data: StepRunning['data'],
  onRetry: () => void,
): Promise<StepOutput> {
  const run = (signal: AbortSignal): Promise<StepOutput> => step.compiled.run(around.running(step, data, signal));
  if (step.compiled.keepsTime === undefined) return attempt(step.policy, around.signal, run, onRetry);
  const { keepsTime } = step.compiled;
  try {
    return await withDeadline(around.signal, keepsTime.maxMs + GRACE_MS, run);
  } catch (cause) {
    if (cause instanceof TimeOver) throw new StepFailure('timed out');
    throw cause;
  }
}

const GRACE_MS = 5_000; // for a step type that keeps its time badly

function failureFrom(cause: unknown, step: WorkflowStep, around: StepSurroundings): StepFailure {
  if (cause instanceof StepFailure) return cause;
  if (around.signal.aborted) return new StepFailure('cancelled');
  // a step type of a plugin fails with any error; its words are for the caller, as its contract says
  around.report(step, cause);
  return new StepFailure(cause instanceof Error ? cause.message : 'failed', false);
}
