import type { BackendState } from './backend.ts';
import type { Call, ToolEntry } from './call.ts';

/** A legacy client session has ended. */
export interface SessionEnded {
  readonly sessionId: string;
  readonly reason: 'deleted' | 'expired' | 'stolen' | 'shutdown';
  readonly durationMs: number;
}

/** A backend appeared, changed its state, or left. */
export interface BackendChanged {
  readonly name: string;
  readonly change: 'added' | 'removed' | 'status';
  readonly state: BackendState | undefined;
}

/** The catalogue of one capability class was built again and differs from the one before. */
export interface CatalogRebuilt {
  readonly capabilityClass: string;
  readonly kinds: readonly ('tools' | 'prompts' | 'resources')[];
  readonly tools: number;
  /** The tools of the direct door, as `core.reachable` gives them: what is found by search, for example. */
  readonly reachable: readonly ToolEntry[];
  readonly warnings: readonly string[];
}

/** A workflow, or one step of it, has begun, ended, or was passed over. Told by the plugin that runs it. */
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
  /** The call that the workflow answers: its id joins what the steps call. */
  readonly call: Call;
  /** Of this one run. */
  readonly workflowId: string;
  readonly workflowName: string;
  /** With the `step_*` changes. */
  readonly step?: { readonly id: string; readonly type: string; readonly tool?: string };
  /** Epoch milliseconds. */
  readonly atMs: number;
  readonly timeoutMs?: number;
  /** With the changes that end something. */
  readonly durationMs?: number;
  readonly stepCount?: number;
  readonly retryCount?: number;
  /** Why a step was skipped or run. */
  readonly condition?: string;
}
