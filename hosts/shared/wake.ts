import { type FSWatcher, watch } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** Ends the wait of a loop early. */
export interface Wake {
  /** Something has changed: ends the running wait, or the next one at once. */
  now(): void;
  /** Waits until something changes, `ms` have passed or `signal` aborts. Never rejects. */
  after(ms: number, signal: AbortSignal): Promise<void>;
}

/** A {@link Wake} for one loop. */
export function createWake(): Wake {
  let changed = new AbortController();
  return {
    now: () => changed.abort(),
    async after(ms, signal) {
      const end = (): void => changed.abort();
      if (signal.aborted) end();
      signal.addEventListener('abort', end, { once: true });
      await delay(ms, undefined, { signal: changed.signal }).catch(() => {});
      signal.removeEventListener('abort', end);
      changed = new AbortController();
    },
  };
}

/**
 * Calls `onChange` with the name of each changed file of a folder (`null` when the system does not tell it) until it is disposed.
 * `undefined` when the system reports no changes: there are no watches left, or the file system has none. A watch may end unnoticed,
 * so callers also look from time to time.
 */
export function watchFolder(folder: string, onChange: (name: string | null) => void): Disposable | undefined {
  let watcher: FSWatcher;
  try {
    watcher = watch(folder, { persistent: false }, (_event, name) => onChange(name));
  } catch {
    return undefined;
  }
  watcher.on('error', () => watcher.close());
  return { [Symbol.dispose]: () => watcher.close() };
}
