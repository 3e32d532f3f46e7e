import { type FSWatcher, watch } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { explainCause, type Log } from '@toolmgr/core';
import type { PublishEvent } from '@toolmgr/plugins/kit/operations';
import { type RecordReader, recordReader, workloadsDir } from '@toolmgr/plugins/kit/workloads';
import { readClientRecord } from './registration/client-record.ts';
import { followedClients, syncRegistered } from './registration/clients.ts';
import { endpointOf, type RegistrationPlaces, registeredGroups, wantedEntries } from './registration/registrations.ts';
import { configPath } from './table/client-paths.ts';

/** What the follower needs. */
export interface FollowOptions extends RegistrationPlaces {
  readonly log: Log;
  readonly publish: PublishEvent;
  /** Ends it. */
  readonly signal: AbortSignal;
  readonly pollMs?: number;
}

/**
 * Keeps the files of registered clients right until `signal` aborts: the entry of a workload is there while its port is, also
 * for workloads that commands start and stop. A file is read only when the wanted entries change.
 */
export async function followWorkloads(options: FollowOptions): Promise<void> {
  const { state, log, signal, pollMs = POLL_MS } = options;
  const folders = [workloadsDir(state), join(state, 'groups')];
  for (const folder of folders) await mkdir(folder, { recursive: true, mode: 0o700 });
  const changes = listen(folders, pollMs, signal);
  const reader = recordReader(state); // reads a file again only when it changed
  const done = new Map<string, string>();
  try {
    while (!signal.aborted) {
      const changed = changes.next();
      await syncAll(options, reader, done).catch((cause: unknown) =>
        log.warn(`clients: the workloads cannot be read: ${explainCause(cause)}`),
      );
      await changed;
    }
  } finally {
    changes.close();
  }
}

/** `done` has what was written last for each client, so that a file of the user is not read again and again. */
async function syncAll(options: FollowOptions, reader: RecordReader, done: Map<string, string>): Promise<void> {
  const records = await reader.read();
  const types = await followedClients(options, records);
  if (types.length === 0) return;
  const registered = await registeredGroups(options, records);
  for (const type of types) {
    const record = await readClientRecord(options.state, type, configPath(type, options.user));
    const wanted = wantedEntries(registered.get(type) ?? [], records, await endpointOf(options, type));
    const description = JSON.stringify([wanted, record?.pending]);
    const isKnown = done.get(type) === description;
    const isWritten = wanted.length === Object.keys(record?.entries ?? {}).length;
    if (isKnown || (wanted.length === 0 && isWritten && !record?.pending)) continue;
    try {
      const { added, updated, removed, conflicts } = await syncRegistered(
        options,
        type,
        record?.pending ? { restores: true } : {},
        records,
      );
      done.set(type, description);
      if (added.length + updated.length + removed.length > 0) options.publish({ type: 'client', name: type });
      for (const { name, why } of conflicts) options.log.warn(`clients: the entry ${name} of ${type} stays: ${why}`);
    } catch (cause) {
      const message = `clients: ${explainCause(cause)}`;
      if (done.get(`${type} fault`) !== message) options.log.warn(message);
      done.set(`${type} fault`, message);
    }
  }
}

/** `next()` resolves after the first change since it was called, after `pollMs`, or on abort. */
function listen(
  folders: readonly string[],
  pollMs: number,
  signal: AbortSignal,
): { next(): Promise<void>; close(): void } {
  let notify: () => void = () => {};
  let timer: NodeJS.Timeout | undefined;
  const changed = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => notify(), DEBOUNCE_MS);
  };
  const watchers = folders.flatMap((folder): FSWatcher[] => {
    try {
      const watcher = watch(folder, { persistent: false }, changed);
      watcher.on('error', () => watcher.close());
      return [watcher];
    } catch {
      return []; // too many watches, or not supported: polling still works
    }
  });
  return {
    next: () =>
      new Promise((resolve) => {
        const finish = (): void => {
          clearTimeout(poll);
          signal.removeEventListener('abort', finish);
          resolve();
        };
        const poll = setTimeout(finish, pollMs);
        poll.unref();
        signal.addEventListener('abort', finish, { once: true });
        if (signal.aborted) finish();
        notify = finish;
      }),
    close() {
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
    },
  };
}

const POLL_MS = 2_000;
const DEBOUNCE_MS = 50;
