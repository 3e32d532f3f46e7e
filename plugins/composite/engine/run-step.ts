import { CallError, type StepOutput, type StepRunContext } from '@toolmgr/core';
import type { WorkflowAdvanced } from '@toolmgr/plugins/kit/extension-points';

import { attempt } from './attempts.ts';
import type { WorkflowStep } from './compile-step.ts';
import { DeadlineExceeded, withDeadline } from './deadline.ts';
import { StepFailure, Suspended } from './step-failure.ts';
import type { StepState, WorkflowState } from './workflow-state.ts';
import { dataOf } from './workflow-state.ts';

/** What {@link runStep} needs from its workflow. */
export interface StepContext {
  readonly state: WorkflowState;
  readonly stepCount: number;
  readonly signal: AbortSignal;
  now(): number;
  /** The API for the step type, with the signal of one attempt. */
  running(step: WorkflowStep, data: StepRunContext['data'], signal: AbortSignal): StepRunContext;
  tell(change: WorkflowAdvanced['change'], step: WorkflowStep, more?: Partial<WorkflowAdvanced>): void;
  /** Logs an unexpected error of a step type. */
  report(step: WorkflowStep, cause: unknown): void;
}

/**
 * Runs one step: condition, attempts, error policy. Writes its state to `state`.
 * @throws StepFailure when the failure ends the workflow; Suspended when the step waits for an answer; the abort reason
 */
export async function runStep(step: WorkflowStep, context: StepContext): Promise<void> {
  const { state, signal } = context;
  const own: StepState = { status: 'running' };
  const startedMs = context.now();
  try {
    const data = dataOf(state, context.stepCount, startedMs);
    if (step.condition?.holds(data) === false) {
      state.steps[step.id] = { status: 'skipped', output: step.defaults ?? {} };
      return context.tell('step_skipped', step, { condition: step.condition.text });
    }
    state.steps[step.id] = own;
    context.tell('step_started', step, step.condition === undefined ? {} : { condition: step.condition.text });
    let retries = 0;
    const output = await outputOf(step, context, data, () => {
      retries++;
      state.retries++;
    });
    settle(own, output, state);
    context.tell('step_completed', step, {
      durationMs: context.now() - startedMs,
      ...(retries === 0 ? {} : { retryCount: retries }),
    });
  } catch (cause) {
    if (cause instanceof Suspended) {
      state.steps[step.id] = { status: 'pending' };
      throw cause;
    }
    if (cause instanceof CallError) throw cause; // becomes the response of the whole call
    const failure = failureFrom(cause, step, context);
    state.steps[step.id] = { ...own, status: 'failed', error: failure.message, ...withDefaults(step) };
    context.tell('step_failed', step, { durationMs: context.now() - startedMs });
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

/** A step type that manages its timeout is not retried; it still has an upper bound. */
async function outputOf(
  step: WorkflowStep,
  context: StepContext,
  data: StepRunContext['data'],
  onRetry: () => void,
): Promise<StepOutput> {
  const run = (signal: AbortSignal): Promise<StepOutput> => step.compiled.run(context.running(step, data, signal));
  if (step.compiled.keepsTime === undefined) return attempt(step.policy, context.signal, run, onRetry);
  const { keepsTime } = step.compiled;
  try {
    return await withDeadline(context.signal, keepsTime.maxMs + GRACE_PERIOD_MS, run);
  } catch (cause) {
    if (cause instanceof DeadlineExceeded) throw new StepFailure('timed out');
    throw cause;
  }
}

const GRACE_PERIOD_MS = 5_000; // for a step type that exceeds its own timeout

function failureFrom(cause: unknown, step: WorkflowStep, context: StepContext): StepFailure {
  if (cause instanceof StepFailure) return cause;
  if (context.signal.aborted) return new StepFailure('cancelled');
  // the contract of step types: the caller sees the message of any error
  context.report(step, cause);
  return new StepFailure(cause instanceof Error ? cause.message : 'failed', false);
}
