import { type FSWatcher, watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';

const GATHER_MS = 80; // editors write in several steps
const POLL_MS = 2_000; // finds what the system does not tell: mounted volumes, links that are swapped

/**
 * Calls `onText` with the new text whenever a file's content changes, until `signal` aborts.
 * An unreadable moment in between (an editor replaces the file) is not a change.
 */
export function watchText(file: string, known: string, onText: (text: string) => void, signal: AbortSignal): void {
  if (signal.aborted) return;
  let last = known;
  let gathering: NodeJS.Timeout | undefined;
  let watcher: FSWatcher | undefined;
  const look = async (): Promise<void> => {
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (signal.aborted || text === undefined || text === last) return;
    last = text;
    onText(text);
  };
  try {
    // the folder, not the file: a file that is replaced would be lost
    watcher = watch(dirname(file), { persistent: false }, (_event, name) => {
      if (name !== null && name !== basename(file)) return;
      clearTimeout(gathering);
      gathering = setTimeout(() => void look(), GATHER_MS).unref();
    });
    watcher.on('error', () => watcher?.close());
  } catch {
    // out of watches or not supported: the poll remains
  }
  const polling = setInterval(() => void look(), POLL_MS).unref();
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
