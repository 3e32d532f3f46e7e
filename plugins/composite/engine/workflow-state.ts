import type { Elicited, JsonObject, JsonValue } from '@toolmgr/core';

/** The state of one step, as templates see it. */
export interface StepState {
  status: 'pending' | 'running' | 'completed' | 'failed' | 'skipped';
  output?: JsonValue;
  content?: JsonObject;
  error?: string;
}

/** An elicitation without an answer yet. */
export interface PendingQuestion {
  readonly message: string;
  readonly schema: JsonObject;
  /** Epoch milliseconds; a later answer counts as a timeout. */
  readonly untilMs: number;
}

/** One run of a workflow; JSON, so that it can be stored and resumed by another replica. */
export interface WorkflowState {
  readonly id: string;
  readonly name: string;
  /** Digest of the definition that it started with. */
  readonly digest: string;
  /** Epoch milliseconds. */
  readonly startedMs: number;
  readonly params: JsonObject;
  status: 'running' | 'waiting_for_elicitation' | 'completed' | 'failed' | 'timed_out';
  readonly steps: Record<string, StepState>;
  readonly questions: Record<string, PendingQuestion>;
  readonly answers: Record<string, Elicited>;
  /** Size of the results that it keeps. */
  bytes: number;
  retries: number;
  /** A step asked to skip all remaining steps. */
  skipsRest: boolean;
}

/** An object without a prototype, because step ids may be names such as `__proto__`. */
export function emptyMap<T>(): Record<string, T> {
  return Object.create(null) as Record<string, T>;
}

/** The data that templates read, for a step that starts now or for the output. */
export function dataOf(state: WorkflowState, stepCount: number, nowMs: number): JsonObject {
  return {
    params: state.params,
    steps: state.steps as unknown as JsonObject,
    vars: {},
    workflow: {
      id: state.id,
      duration_ms: nowMs - state.startedMs,
      step_count: stepCount,
      status: state.status,
      start_time: new Date(state.startedMs).toISOString(),
    },
  };
}
