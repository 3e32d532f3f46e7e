import { basename } from 'node:path';
import type { RunConfig, WorkloadRecord } from '@toolmgr/plugins/workloads/state';

/** One workload as `list` shows it, without anything that may be secret. */
export interface ListedWorkload {
  readonly name: string;
  readonly group: string;
  readonly status: string;
  readonly transport: string;
  readonly url: string;
  readonly port: number | null;
  readonly target: string;
  readonly pid: number | null;
  readonly createdAt: string | null;
  readonly message?: string;
}

/** Converts a record. Leaves out arguments, variables and the query of a URL, because they may hold secrets. */
export function listedFrom({ name, config, status, alive }: WorkloadRecord): ListedWorkload {
  return {
    name,
    group: config?.group ?? '',
    status: status.status,
    transport: config?.transport ?? '',
    url: alive ? (status.url ?? '') : '',
    port: status.port ?? null,
    target: config === undefined ? '' : shownTarget(config),
    pid: alive ? (status.proxy?.pid ?? null) : null,
    createdAt: config?.created_at ?? null,
    ...(status.message === undefined ? {} : { message: status.message }),
  };
}

function shownTarget({ remote_url: url, process: program, image }: RunConfig): string {
  if (image !== undefined) return image;
  if (url === undefined || !URL.canParse(url)) return program?.target ?? '';
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

/** Table rows, the header first. */
export function rowsOf(workloads: readonly ListedWorkload[]): readonly (readonly string[])[] {
  const rows = workloads.map(({ name, group, status, url, target }) => [
    name,
    group,
    status,
    url || '-',
    short(target),
  ]);
  return [['NAME', 'GROUP', 'STATUS', 'URL', 'TARGET'], ...rows];
}

/** Shows only the last part of a path. */
function short(target: string): string {
  return target.startsWith('/') ? basename(target) : target;
}
