import type { BackendState } from './backend.ts';
import type { Call, ToolEntry } from './call.ts';

/** A legacy client session has ended. */
export interface SessionEnded {
  readonly sessionId: string;
  /** `displaced`: another session took its place, because its caller had its share or most of all. */
  readonly reason: 'deleted' | 'expired' | 'stolen' | 'displaced' | 'shutdown';
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

/**
 * A caller looked for a tool that no list shows, or called one that it had found so. Told by the plugin that hides tools
 * behind a search, when its answer is there.
 */
export interface ToolSearched {
  readonly way: 'search' | 'call';
  /** The search itself, or the call that led to the tool. */
  readonly call: Call;
  /** `error`: also a tool that reports one. `notFound`: nobody has a tool of the name that was called. */
  readonly outcome: 'ok' | 'error' | 'notFound';
  readonly durationMs: number;
  /** Of a search: how many tools it answered with. */
  readonly found?: number;
  /** Of a search: what the caller saved by not having all tools in its list, 0 to 100. */
  readonly savingsPercent?: number;
}

/** A call passed although nobody could tell whether it was within its limits. Told by the plugin that limits. */
export interface LimitSkipped {
  readonly call: Call;
  /** What failed, in one line; not for callers. */
  readonly cause: string;
}
