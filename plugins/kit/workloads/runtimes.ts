import { type Backend, defineHook, defineSlot } from '@toolmgr/core';

/** A folder or file of the host that a container sees. Paths are absolute. */
export interface ContainerMount {
  readonly source: string;
  readonly target: string;
  readonly readOnly: boolean;
}

/** Settings for the image of a package. */
export interface ContainerBuild {
  /** Replaces the usual base image of the package's ecosystem. */
  readonly baseImage?: string;
  /** Packages of the base image's distribution that are added. */
  readonly packages?: readonly string[];
  /** Constraints of dependencies, for ecosystems that have them. */
  readonly constraints?: readonly string[];
  /** Variables that the image sets. */
  readonly env?: Readonly<Record<string, string>>;
  /** PEM file with certificates that the build and the server trust. */
  readonly caCertFile?: string;
}

/** What an isolated container may reach, with the names of permission profiles. */
export interface ContainerIsolation {
  /** Hosts and ports that it may reach; any when absent. */
  readonly outbound?: {
    readonly insecure_allow_all: boolean;
    readonly allow_host: readonly string[];
    readonly allow_port: readonly number[];
  };
  /** It may reach this machine by the gateway names of the engine, at any port. */
  readonly allowGateway: boolean;
}

/** What a container needs besides its environment and command. */
export interface ContainerSpec {
  /** Reference of the image: name with tag or digest. Or a package (`npx://`, `uvx://`, `go://`) that is made into one. */
  readonly image: string;
  /** How the image of a package is made. */
  readonly build?: ContainerBuild;
  /** Arguments of the image's entry point; its own default when empty. */
  readonly args: readonly string[];
  /** Labels of the user; those of toolmgr (`dev.toolmgr`) override them. */
  readonly labels?: Readonly<Record<string, string>>;
  /** A network mode of the engine: `bridge` (default), `host`, `none` or the name of a network. */
  readonly network?: string;
  /** Isolates it from every network; only with the network mode `bridge`. */
  readonly isolation?: ContainerIsolation;
  readonly mounts?: readonly ContainerMount[];
  /** Ignore files hide parts of the mounts: those of the mounts always, that of the user with `loadGlobal` (the default). */
  readonly ignore?: { readonly loadGlobal: boolean; readonly printOverlays: boolean };
  /** Ports that are published besides the endpoint's; without a host port the engine picks one. */
  readonly publish?: readonly { readonly hostPort?: number; readonly containerPort: number }[];
  /** Limits of it; 0 is no limit, an absent one has the default of the runtime. `memory` is a size such as `512m`. */
  readonly limits?: {
    readonly memory?: string | undefined;
    readonly cpus?: number | undefined;
    readonly pids?: number | undefined;
  };
  /** Nothing can be written but `/tmp` and mounts; default: what the image says. */
  readonly readOnlyRoot?: boolean;
  /** All rights of the host; false unless a permission profile says so. */
  readonly privileged?: boolean;
}

/** What a workload needs to run. */
export interface WorkloadSpec {
  readonly name: string;
  readonly group: string;
  /** Exact argv for process and container runtimes. */
  readonly command?: { readonly file: string; readonly args: readonly string[] };
  /** For the container runtime. */
  readonly container?: ContainerSpec;
  /** URL for the remote runtime. */
  readonly url?: string;
  /** For the runtime that attaches to a container of a pod of Kubernetes. */
  readonly pod?: { readonly namespace: string; readonly name: string; readonly container: string };
  readonly transport: 'stdio' | 'sse' | 'streamable-http';
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Port of a program with an HTTP transport; without it the runtime picks one and passes it to the program. */
  readonly targetPort?: number;
  /** Address on which such a program listens. Default: 127.0.0.1. */
  readonly targetHost?: string;
  /** `shared`: the server keeps no state for its clients, and one session with it serves all of them. */
  readonly sessions?: Backend['sessions'];
  /**
   * File in which the runtime remembers containers that outlive the gateway, so that the next one uses them. Without it none
   * does.
   */
  readonly keepFile?: string;
  /** File for the output of the program; its size is limited. */
  readonly logFile?: string;
}

/** State of a workload as its runtime reports it. */
export interface WorkloadState {
  readonly name: string;
  /** `unhealthy`: it may run, but cannot be checked or reached, e.g. because the container engine does not answer. */
  readonly status: 'starting' | 'running' | 'unhealthy' | 'stopped' | 'error';
  readonly pid?: number;
  readonly startedAtMs?: number;
  readonly restarts: number;
  readonly message?: string;
  /** Exit code of the last program, once it will not run again. */
  readonly exitCode?: number;
}

/** A started workload. */
export interface WorkloadHandle {
  /** The current state; read it again for a later state. */
  readonly state: WorkloadState;
  /**
   * How the gateway connects to it. A stdio workload has a `command`: the gateway starts one process per session of it.
   * Every other workload has a `url`, which stays the same after restarts.
   */
  readonly reach: Pick<Backend, 'transport' | 'url' | 'addresses' | 'command'>;
  /** Resolves when the workload will not run again. */
  readonly ended: Promise<WorkloadState>;
  /**
   * Ends it within `graceMs`, at first with SIGTERM, including all child processes. Repeated calls wait for the same
   * end.
   */
  stop(graceMs: number): Promise<void>;
  /** The last lines of its output, bounded. */
  logs(): string;
}

/** One way to run workloads: process, container or remote. */
export interface WorkloadRuntime {
  /**
   * Starts a workload and resolves when it accepts connections.
   * @throws GatewayFault WORKLOAD_FAILED when it cannot start, ends before it answers, or `signal` aborts
   */
  start(spec: WorkloadSpec, signal: AbortSignal): Promise<WorkloadHandle>;
}

/** Ways to run workloads, by name. */
export const workloadRuntimes = defineSlot<WorkloadRuntime>('workloadRuntimes');

/** A workload has started, ended or failed. */
export const workloadChanged = defineHook<WorkloadState>('workloadChanged', 'event');
