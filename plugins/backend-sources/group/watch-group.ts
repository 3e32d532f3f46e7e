import { type FSWatcher, watch } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import type { Backend, ExpectedBackend, PushBackends } from '@toolmgr/core';
import { readWorkloads, type WorkloadRecord, workloadsDir } from '../../workloads/state/workload-record.ts';

/** What to watch and whom to tell. */
export interface GroupWatch {
  /** The state folder. */
  readonly state: string;
  readonly group: string;
  readonly push: PushBackends;
  readonly signal: AbortSignal;
  readonly pollMs?: number;
}

/**
 * Pushes the group's running workloads now and after each change, until `signal` aborts. Those that are being started
 * are pushed as expected.
 *
 * The writer touches a file in the watched folder with every change; the poll finds what the system does not tell
 * (a proxy that was killed, network file systems). An equal snapshot is not pushed again.
 * @throws Error of the file system when the state folder cannot be made or read
 */
export async function watchGroup({ state, group, push, signal, pollMs = POLL_MS }: GroupWatch): Promise<void> {
  await mkdir(workloadsDir(state), { recursive: true, mode: 0o700 });
  const changes = listen(workloadsDir(state), pollMs, signal);
  let last: string | undefined;
  try {
    while (!signal.aborted) {
      const changed = changes.next();
      const records = await readWorkloads(state);
      const snapshot = records.flatMap((record) => backendFrom(record, group));
      const expected = records.flatMap((record) => expectedFrom(record, group));
      const description = JSON.stringify([snapshot, expected]);
      if (description !== last && !signal.aborted) push(snapshot, expected);
      last = description;
      await changed;
    }
  } finally {
    changes.close();
  }
}

/** A running workload of the group as a backend; nothing for any other. */
function backendFrom({ name, config, status, alive }: WorkloadRecord, group: string): Backend[] {
  if (!alive || config?.group !== group || status.status !== 'running' || status.url === undefined) return [];
  return [{ name, transport: 'streamable-http', url: status.url, metadata: { group } }];
}

/** A workload of the group that is being started; nothing for any other. */
function expectedFrom({ name, config, status, alive }: WorkloadRecord, group: string): ExpectedBackend[] {
  if (!alive || config?.group !== group || status.status !== 'starting') return [];
  return [{ name, sinceMs: status.updatedAtMs }];
}

/** `next()` resolves with the first change after it was called, after `pollMs`, or on abort. */
function listen(folder: string, pollMs: number, signal: AbortSignal): { next(): Promise<void>; close(): void } {
  let wake: () => void = () => {};
  let coalescing: NodeJS.Timeout | undefined;
  let watcher: FSWatcher | undefined;
  const changed = (): void => {
    // one change is several events; waking after the last of them reads the folder once
    clearTimeout(coalescing);
    coalescing = setTimeout(() => wake(), COALESCE_MS);
  };
  try {
    watcher = watch(folder, { persistent: false }, changed);
    watcher.on('error', () => watcher?.close());
  } catch {
    // out of watches (ENOSPC) or not supported: the poll remains
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
        wake = done;
      }),
    close() {
      clearTimeout(coalescing);
      watcher?.close();
    },
  };
}

const POLL_MS = 2_000;
const COALESCE_MS = 30;
