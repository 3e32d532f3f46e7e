import { basename } from 'node:path';
import type { RunConfig, WorkloadRecord } from '@toolmgr/plugins/kit/workloads';

/**
 * One workload as `list` and `status` show it, without anything that may be secret.
 *
 * Shape: the members of the contract's workload summary; `target`, `pid` and `restarts` are ours.
 * Source: workload API spec §2 "Workload summary".
 */
export interface WorkloadSummary {
  readonly name: string;
  readonly group: string;
  readonly status: string;
  /** Why the status is what it is. */
  readonly status_context?: string;
  /** The endpoint for clients; empty while no proxy runs. */
  readonly url: string;
  readonly port: number | null;
  readonly transport_type: string;
  readonly proxy_mode: string;
  /** Reference of the image, the program as it was typed, or `remote`. */
  readonly package: string;
  /** The same; for a remote server its URL without the query. */
  readonly target: string;
  readonly remote: boolean;
  readonly labels: Readonly<Record<string, string>>;
  /** Names of the tools that are shown; empty when all are. */
  readonly tools: readonly string[];
  readonly created_at: string | null;
  /** When the proxy that runs was started. */
  readonly started_at: string | null;
  readonly pid: number | null;
  /** How often the program or container was started again since then. */
  readonly restarts: number;
}

/** Converts a record. Leaves out arguments, variables and the query of a URL, because they may hold secrets. */
export function summaryOf({ name, config, status, alive }: WorkloadRecord): WorkloadSummary {
  const { message, port = null, url = '', proxy, startedAtMs, restarts = 0 } = status;
  return {
    name,
    group: config?.group ?? '',
    status: status.status,
    ...(message === undefined ? {} : { status_context: message }),
    url: alive ? url : '',
    port,
    transport_type: config?.transport ?? '',
    proxy_mode: config?.proxy_mode ?? '',
    package: config === undefined ? '' : packageOf(config),
    target: config === undefined ? '' : targetOf(config),
    remote: config?.remote_url !== undefined,
    labels: config?.container_labels ?? {},
    tools: config?.tools_filter ?? [],
    created_at: config?.created_at ?? null,
    started_at: alive && startedAtMs !== undefined ? new Date(startedAtMs).toISOString() : null,
    pid: alive ? (proxy?.pid ?? null) : null,
    restarts: alive ? restarts : 0,
  };
}

function packageOf({ remote_url: url, process: program, image }: RunConfig): string {
  return url === undefined ? (image ?? program?.target ?? '') : 'remote';
}

function targetOf(config: RunConfig): string {
  const { remote_url: url } = config;
  if (url === undefined || !URL.canParse(url)) return packageOf(config);
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

/** Table rows, the header first. `scripts`: what the programs of workloads run, by name. */
export function rowsOf(
  workloads: readonly WorkloadSummary[],
  scripts: ReadonlyMap<string, string> = new Map(),
): readonly (readonly string[])[] {
  const rows = workloads.map(({ name, group, status, url, target }) => [
    ...[name, group, status, url || '-'],
    [short(target), scripts.get(name)].filter((part) => part !== undefined).join(' '),
  ]);
  return [['NAME', 'GROUP', 'STATUS', 'URL', 'TARGET'], ...rows];
}

/** Name of the script that the program of a workload runs, as in `node server.mjs`; its other arguments may be secret. */
export function scriptOf({ process: program, cmd_args: more }: RunConfig): string | undefined {
  if (program === undefined || program.target.includes('://')) return undefined;
  const script = [...program.args, ...more].find((argument) => SCRIPT.test(argument));
  return script === undefined ? undefined : basename(script);
}

const SCRIPT = /^(?!-)[^\s=?&;|]+\.(?:[cm]?[jt]sx?|py|rb|jar|sh|php|pl|dll|wasm)$/i;

/** Shows only the last part of a path. */
function short(target: string): string {
  return target.startsWith('/') ? basename(target) : target;
}
