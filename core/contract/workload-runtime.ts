import type { Backend } from './backend.ts';

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
  /** Port on which a program with an HTTP transport listens; without it the runtime picks one and tells the program. */
  readonly targetPort?: number;
  /** File that gets what the program prints, kept under a bound. */
  readonly logFile?: string;
}

/** A workload as its runtime sees it. */
export interface WorkloadState {
  readonly name: string;
  readonly status: 'starting' | 'running' | 'stopped' | 'error';
  readonly pid?: number;
  readonly startedAtMs?: number;
  readonly restarts: number;
  readonly message?: string;
  /** Of the program that ended last, once it will not run again. */
  readonly exitCode?: number;
}

/** A started workload. */
export interface WorkloadHandle {
  /** As of now; read it again for a later state. */
  readonly state: WorkloadState;
  /**
   * How the gateway talks to it. A stdio workload has a `command`: the gateway starts one process per session of it;
   * every other one has a `url`, which stays the same over restarts.
   */
  readonly reach: Pick<Backend, 'transport' | 'url' | 'command'>;
  /** Resolves when the workload will not run again. */
  readonly ended: Promise<WorkloadState>;
  /** Ends it within `graceMs`, politely first; nothing it started is left. Repeated calls wait for the same end. */
  stop(graceMs: number): Promise<void>;
  /** The last lines of its output, bounded. */
  logs(): string;
}

/** Slot `workloadRuntimes`: process, container or remote. */
export interface WorkloadRuntime {
  /**
   * Starts a workload and resolves when it can be reached.
   * @throws GatewayFault WORKLOAD_FAILED when it cannot start, ends before it answers, or `signal` aborts
   */
  start(spec: WorkloadSpec, signal: AbortSignal): Promise<WorkloadHandle>;
}
