import { type FSWatcher, watch } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import type { Backend, ExpectedBackend, PushBackends } from '@toolmgr/core';
import { readWorkloads, type WorkloadRecord, workloadsDir } from '@toolmgr/plugins/kit/workloads';

/** What to watch, and the callback for snapshots. */
export interface GroupWatch {
  /** The state folder. */
  readonly state: string;
  readonly group?: string | undefined;
  /** One workload, in whatever group it is, instead of a group. */
  readonly workload?: string | undefined;
  readonly push: PushBackends;
  readonly signal: AbortSignal;
  readonly pollMs?: number;
}

/**
 * Pushes the group's running workloads now and after each change, until `signal` aborts. Starting workloads are pushed as
 * expected.
 *
 * Writers touch a file in the watched folder with every change; polling finds changes without events (a killed proxy, network
 * file systems). An equal snapshot is not pushed again.
 * @throws Error of the file system when the state folder cannot be created or read
 */
export async function watchGroup({
  state,
  group,
  workload,
  push,
  signal,
  pollMs = POLL_MS,
}: GroupWatch): Promise<void> {
  await mkdir(workloadsDir(state), { recursive: true, mode: 0o700 });
  const changes = listen(workloadsDir(state), pollMs, signal);
  const isMember = ({ name, config }: WorkloadRecord): boolean =>
    workload === undefined ? config?.group === group : name === workload;
  let last: string | undefined;
  try {
    while (!signal.aborted) {
      const changed = changes.next();
      const records = (await readWorkloads(state)).filter(isMember);
      const snapshot = records.flatMap(backendFrom);
      const expected = records.flatMap(expectedFrom);
      const description = JSON.stringify([snapshot, expected]);
      if (description !== last && !signal.aborted) push(snapshot, expected);
      last = description;
      await changed;
    }
  } finally {
    changes.close();
  }
}

/** A running workload as a backend; empty for others. */
function backendFrom({ name, config, status, alive }: WorkloadRecord): Backend[] {
  const group = config?.group;
  if (!alive || group === undefined || !SERVES.has(status.status) || status.url === undefined) return [];
  return [{ name, transport: 'streamable-http', url: status.url, metadata: { group } }];
}

/** A starting workload; empty for others. */
function expectedFrom({ name, config, status, alive }: WorkloadRecord): ExpectedBackend[] {
  if (!alive || config === undefined || status.status !== 'starting') return [];
  return [{ name, sinceMs: status.updatedAtMs }];
}

/** `next()` resolves with the first change after it was called, after `pollMs`, or on abort. */
function listen(folder: string, pollMs: number, signal: AbortSignal): { next(): Promise<void>; close(): void } {
  let notify: () => void = () => {};
  let debounceTimer: NodeJS.Timeout | undefined;
  let watcher: FSWatcher | undefined;
  const changed = (): void => {
    // one change causes several events; the folder is read once, after the last one
    clearTimeout(debounceTimer);
    debounceTimer = setTimeout(() => notify(), DEBOUNCE_MS);
  };
  try {
    watcher = watch(folder, { persistent: false }, changed);
    watcher.on('error', () => watcher?.close());
  } catch {
    // too many watches (ENOSPC) or not supported: polling still works
  }
  return {
    next: () =>
      new Promise((resolve) => {
        const done = (): void => {
          clearTimeout(poll);
          signal.removeEventListener('abort', done);
          resolve();
        };
        const poll = setTimeout(done, pollMs);
        signal.addEventListener('abort', done, { once: true });
        if (signal.aborted) done();
        notify = done;
      }),
    close() {
      clearTimeout(debounceTimer);
      watcher?.close();
    },
  };
}

const POLL_MS = 2_000;
const DEBOUNCE_MS = 30;

/** A server whose token is being refreshed serves its lists. */
const SERVES: ReadonlySet<string> = new Set(['running', 'auth_retrying']);
