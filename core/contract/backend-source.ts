import type { Backend } from './backend.ts';

/** A backend that a source expects and cannot describe yet, e.g. a workload that is being started. */
export interface ExpectedBackend {
  readonly name: string;
  /** Epoch milliseconds since when it is expected. */
  readonly sinceMs: number;
  /** It could not be started so far: nobody waits for it. */
  readonly hasFailed?: boolean;
}

/**
 * Takes a source's whole snapshot, and what the source still expects. The first lists of a gateway wait for a snapshot
 * that expects nothing more but what has failed, at most `limits.discoveryMs`.
 */
export type PushBackends = (snapshot: readonly Backend[], expected?: readonly ExpectedBackend[]) => void;

/** Slot `backendSources`: where backends come from. Pushes whole snapshots; the directory drops equal ones. */
export interface BackendSource {
  /** Runs until `signal` aborts. A rejection is retried with back-off and the last snapshot kept. */
  watch(push: PushBackends, signal: AbortSignal): Promise<void>;
}
