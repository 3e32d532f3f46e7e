import type { BackendState } from './backend.ts';
import type { Call, ToolEntry } from './call.ts';

/** A legacy client session has ended. */
export interface SessionEnded {
  readonly sessionId: string;
  /**
   * `displaced`: closed to make room for a new session, because its caller had reached its limit or had the most
   * sessions.
   */
  readonly reason: 'deleted' | 'expired' | 'stolen' | 'displaced' | 'shutdown';
  readonly durationMs: number;
}

/** A backend appeared, changed its state, or was removed. */
export interface BackendChanged {
  readonly name: string;
  readonly change: 'added' | 'removed' | 'status';
  readonly state: BackendState | undefined;
}

/** The catalogue of one capability class was rebuilt and differs from the previous one. */
export interface CatalogRebuilt {
  readonly capabilityClass: string;
  readonly kinds: readonly ('tools' | 'prompts' | 'resources')[];
  readonly tools: number;
  /** The tools of the direct path, as `core.reachable` returns them; a search looks for tools in these. */
  readonly reachable: readonly ToolEntry[];
  readonly warnings: readonly string[];
}

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

/**
 * A caller searched for tools that no list shows, or called a tool that it found by a search. Reported after the answer
 * by the plugin that hides tools behind a search.
 */
export interface ToolSearched {
  readonly way: 'search' | 'call';
  /** The search itself, or the call of the tool that was found. */
  readonly call: Call;
  /** `error`: also when the tool reported an error. `notFound`: the called name does not exist. */
  readonly outcome: 'ok' | 'error' | 'notFound';
  readonly durationMs: number;
  /** For a search: the number of tools found. */
  readonly found?: number;
  /** For a search: percentage of tokens saved, 0 to 100, compared with a list of all tools. */
  readonly savingsPercent?: number;
}

/** A call was let through although its rate limit could not be checked. Reported by the rate-limit plugin. */
export interface LimitSkipped {
  readonly call: Call;
  /** What failed, in one line; not shown to callers. */
  readonly cause: string;
}
