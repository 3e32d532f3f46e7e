import type { Elicited, JsonObject, JsonValue } from '@toolmgr/core';

/** One step as templates see it. */
export interface StepState {
  status: 'pending' | 'running' | 'completed' | 'failed' | 'skipped';
  output?: JsonValue;
  content?: JsonObject;
  error?: string;
}

/** A question that waits for its answer. */
export interface Question {
  readonly message: string;
  readonly schema: JsonObject;
  /** Epoch milliseconds; a later answer counts as none. */
  readonly untilMs: number;
}

/** One run of a workflow. JSON, so that it can wait in a store and go on elsewhere. */
export interface WorkflowState {
  readonly id: string;
  readonly name: string;
  /** Of the definition it was begun with. */
  readonly digest: string;
  /** Epoch milliseconds. */
  readonly startedMs: number;
  readonly params: JsonObject;
  status: 'running' | 'waiting_for_elicitation' | 'completed' | 'failed' | 'timed_out';
  readonly steps: Record<string, StepState>;
  readonly questions: Record<string, Question>;
  readonly answers: Record<string, Elicited>;
  /** Of the results that it keeps. */
  bytes: number;
  retries: number;
  /** A step said that the others are not to be run. */
  skipsRest: boolean;
}

/** Without a prototype: step ids are names that somebody chose. */
export function emptyMap<T>(): Record<string, T> {
  return Object.create(null) as Record<string, T>;
}

/** What templates read, for a step that begins now or for the output. */
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
