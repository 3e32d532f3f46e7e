import { type FSWatcher, watch } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { explainCause, type Log } from '@toolmgr/core';
import type { ManagementEvent, PublishEvent } from '@toolmgr/plugins/kit/operations';
import { readGroups, readWorkload, readWorkloads, workloadName, workloadsDir } from '@toolmgr/plugins/kit/workloads';

const SETTLE_MS = 30; // a status is written as a new file that replaces the old one: several notices for one change
const POLL_MS = 5_000;

/** What {@link watchState} needs. */
export interface WatchOptions {
  readonly state: string;
  readonly publish: PublishEvent;
  /** Whether a client reads events; without one the state is not polled. */
  hasReaders(): boolean;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Publishes changes of workloads and groups, whichever process made them. */
export interface StateWatch {
  /** Remembers what an operation has published, so that its change is not published again. */
  note(event: ManagementEvent): void;
}

/**
 * Watches the state folder. A change is noticed by the file system; a proxy that was killed, and changes on file systems
 * without notices, by a poll.
 */
export async function watchState(options: WatchOptions): Promise<StateWatch> {
  const { state, publish, signal } = options;
  const known = new Map((await readWorkloads(state)).map(({ name, status }) => [name, status.status as string]));
  let groups = new Set(await readGroups(state));
  const pending = new Map<string, NodeJS.Timeout>();

  const tell = (name: string, status: string): void => {
    if (known.get(name) === status) return;
    if (status === GONE) known.delete(name);
    else known.set(name, status);
    publish({ type: 'workload', name, status });
  };
  const look = async (name: string): Promise<void> => {
    const record = await readWorkload(state, name);
    if (record !== undefined) tell(name, record.status.status);
    else if (known.has(name)) tell(name, GONE);
  };
  const lookAtGroups = async (): Promise<void> => {
    const now = new Set(await readGroups(state));
    for (const name of [...now, ...groups]) if (now.has(name) !== groups.has(name)) publish({ type: 'group', name });
    groups = now;
  };
  const soon = (key: string, work: () => Promise<void>): void => {
    if (pending.has(key) || signal.aborted) return;
    const timer = setTimeout(() => {
      pending.delete(key);
      void quietly(work, options);
    }, SETTLE_MS);
    pending.set(key, timer);
  };
  const lookAtAll = async (): Promise<void> => {
    const records = await readWorkloads(state);
    for (const { name, status } of records) tell(name, status.status);
    const names = new Set(records.map(({ name }) => name));
    for (const name of known.keys()) if (!names.has(name)) tell(name, GONE);
    await lookAtGroups();
  };

  const watchers = [
    await watched(workloadsDir(state), true, options, (path) => {
      const [name = ''] = path.split(sep);
      if (workloadName.safeParse(name).success) soon(`workload ${name}`, () => look(name));
    }),
    await watched(join(state, 'groups'), false, options, () => soon('groups', lookAtGroups)),
  ];
  let isPolling = false;
  const poll = setInterval(() => {
    if (isPolling || !options.hasReaders()) return;
    isPolling = true;
    void quietly(lookAtAll, options).finally(() => {
      isPolling = false;
    });
  }, POLL_MS);
  const end = (): void => {
    clearInterval(poll);
    for (const timer of pending.values()) clearTimeout(timer);
    for (const watcher of watchers) watcher?.close();
  };
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
  return {
    note(event) {
      if (event.type !== 'workload') return;
      if (event.status === GONE) known.delete(event.name);
      else known.set(event.name, event.status);
    },
  };
}

/** Status in the event of a workload that was removed. */
export const GONE = 'removed';

/** `undefined` when the system cannot watch, e.g. because it has no more watches: then only the poll remains. */
async function watched(
  folder: string,
  recursive: boolean,
  { log }: WatchOptions,
  changed: (path: string) => void,
): Promise<FSWatcher | undefined> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const watcher = watch(folder, { recursive, persistent: false }, (_kind, path) => changed(path ?? ''));
    watcher.on('error', (cause) => log.debug('a folder is no longer watched', { folder, cause: explainCause(cause) }));
    return watcher;
  } catch (cause) {
    log.warn('changes of the command line are shown late, because the folder cannot be watched', {
      folder,
      cause: explainCause(cause),
    });
    return undefined;
  }
}

async function quietly(work: () => Promise<void>, { log }: WatchOptions): Promise<void> {
  try {
    await work();
  } catch (cause) {
    log.debug('the state could not be read for events', { cause: explainCause(cause) });
  }
}
