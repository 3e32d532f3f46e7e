/** What a workload needs to run. */
export interface WorkloadSpec {
  readonly name: string;
  readonly group: string;
  /** Exact argv for process and container runtimes. */
  readonly command?: { readonly file: string; readonly args: readonly string[] };
  /** For the remote runtime. */
  readonly url?: string;
  readonly transport: 'stdio' | 'sse' | 'streamable-http';
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** A workload as its runtime sees it. */
export interface WorkloadState {
  readonly name: string;
  readonly status: 'starting' | 'running' | 'stopped' | 'error';
  readonly pid?: number;
  readonly startedAtMs?: number;
  readonly restarts: number;
  readonly message?: string;
}

/** A started workload. For stdio, `stdin`/`stdout` carry JSON-RPC lines. */
export interface WorkloadHandle {
  readonly state: WorkloadState;
  /** Resolves when the workload will not run again. */
  readonly ended: Promise<WorkloadState>;
  stop(graceMs: number): Promise<void>;
  /** The last lines of stderr, bounded. */
  logs(): string;
}

/** Slot `workloadRuntimes`: process, container or remote. */
export interface WorkloadRuntime {
  start(spec: WorkloadSpec, signal: AbortSignal): Promise<WorkloadHandle>;
}
