import type { Backend } from './backend.ts';

/** A backend that a source expects and cannot describe yet, e.g. a workload that is being started. */
export interface ExpectedBackend {
  readonly name: string;
  /** Epoch milliseconds since when it is expected. */
  readonly sinceMs: number;
  /** It could not be started so far; the first lists do not wait for it. */
  readonly hasFailed?: boolean;
}

/**
 * Takes the whole snapshot of a source, and the backends that the source still expects. The first lists of a gateway
 * wait, at most `limits.discoveryMs`, until every expected backend has arrived or failed.
 */
export type PushBackends = (snapshot: readonly Backend[], expected?: readonly ExpectedBackend[]) => void;

/** Slot `backendSources`: where backends come from. A source pushes whole snapshots; equal ones are ignored. */
export interface BackendSource {
  /** Runs until `signal` aborts. After a rejection it is run again with back-off, and the last snapshot is kept. */
  watch(push: PushBackends, signal: AbortSignal): Promise<void>;
  /** For status pages; absent for a source that always knows its backends. */
  state?(): SourceState;
}

/** What a source knows at the moment. */
export interface SourceState {
  /** Why it does not know its backends yet, e.g. `cache_sync_pending`; a gateway is not ready meanwhile. */
  readonly notReady?: string;
  /** Identifies the data of the last snapshot, e.g. a checksum. */
  readonly version?: string;
}
