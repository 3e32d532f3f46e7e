import { type Call, defineHook } from '@toolmgr/core';

/** A workflow or one of its steps began, ended, or was skipped. Reported by the plugin that runs it. */
export interface WorkflowAdvanced {
  readonly change:
    | 'started'
    | 'completed'
    | 'failed'
    | 'timed_out'
    | 'step_started'
    | 'step_completed'
    | 'step_failed'
    | 'step_skipped';
  /** The call that the workflow answers; its id is also the id of the calls of the steps. */
  readonly call: Call;
  /** Id of this run. */
  readonly workflowId: string;
  readonly workflowName: string;
  /** Set for the `step_*` changes. */
  readonly step?: { readonly id: string; readonly type: string; readonly tool?: string };
  /** Epoch milliseconds. */
  readonly atMs: number;
  readonly timeoutMs?: number;
  /** Set for the changes that end a workflow or a step. */
  readonly durationMs?: number;
  readonly stepCount?: number;
  readonly retryCount?: number;
  /** Why a step was skipped or run. */
  readonly condition?: string;
}

/** Called by the plugin that runs composite tools. */
export const workflowAdvanced = defineHook<WorkflowAdvanced>('workflowAdvanced', 'event');
