import { type FSWatcher, watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';

const GATHER_MS = 80; // editors write in several steps
const POLL_MS = 2_000; // finds changes without a system event: mounted volumes, replaced links

/**
 * Calls `onText` with the new text whenever a file's content changes, until `signal` aborts.
 * A file that is unreadable for a short time (an editor replaces it) has not changed.
 */
export function watchText(file: string, known: string, onText: (text: string) => void, signal: AbortSignal): void {
  if (signal.aborted) return;
  let last = known;
  let gathering: NodeJS.Timeout | undefined;
  let watcher: FSWatcher | undefined;
  const check = async (): Promise<void> => {
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (signal.aborted || text === undefined || text === last) return;
    last = text;
    onText(text);
  };
  try {
    // the folder, not the file: the watch of a file ends when the file is replaced
    watcher = watch(dirname(file), { persistent: false }, (_event, name) => {
      if (name !== null && name !== basename(file)) return;
      clearTimeout(gathering);
      gathering = setTimeout(() => void check(), GATHER_MS).unref();
    });
    watcher.on('error', () => watcher?.close());
  } catch {
    // no watches left or not supported: the poll still works
  }
  const polling = setInterval(() => void check(), POLL_MS).unref();
  signal.addEventListener(
    'abort',
    () => {
      clearTimeout(gathering);
      clearInterval(polling);
      watcher?.close();
    },
    { once: true },
  );
}
