import type { Backend } from './backend.ts';

/** Slot `backendSources`: where backends come from. Pushes whole snapshots; the directory drops equal ones. */
export interface BackendSource {
  /** Runs until `signal` aborts. A rejection is retried with back-off and the last snapshot kept. */
  watch(push: (snapshot: readonly Backend[]) => void, signal: AbortSignal): Promise<void>;
}
