/**
 * Events of the manager, sent over server-sent events at `/api/v1beta/events`. An event says what changed and never its
 * content: a reader asks the operation for it.
 */
export type ManagementEvent =
  /** `status` as in the list of workloads; `removed` when it is gone. */
  | { readonly type: 'workload'; readonly name: string; readonly status: string }
  | { readonly type: 'group' | 'client' | 'registry' | 'secret' | 'skill' | 'pin'; readonly name: string }
  | { readonly type: 'operation'; readonly name: string; readonly status: JobStatus };

/** Sends an event to every reader. Never throws and never waits. */
export type PublishEvent = (event: ManagementEvent) => void;

/** State of long work. `failed` when any item failed. */
export type JobStatus = 'running' | 'succeeded' | 'failed' | 'cancelled';

/** One item of long work, e.g. one workload of a bulk operation. Items are independent of one another. */
export interface JobItem {
  readonly name: string;
  /** One sentence for each step, e.g. `pulls example.com/server:1`. */
  run(report: (step: string) => void, signal: AbortSignal): Promise<JobOutcome>;
}

/** How an item ended. `detail` is a sentence for the user, without secrets. */
export type JobOutcome =
  | { readonly status: 'done' | 'unchanged'; readonly detail?: string }
  | { readonly status: 'failed'; readonly detail: string };

/** Long work after an answer. */
export interface Jobs {
  /** Starts the items and returns the id: the operation resource is `/api/v1beta/operations/{id}`. */
  start(title: string, items: readonly JobItem[]): string;
}
