import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { watchFolder } from './wake.ts';

const GATHER_MS = 80; // editors write in several steps
const POLL_MS = 2_000; // finds changes without a system event: mounted volumes, replaced links

/**
 * Calls `onText` with the new text whenever a file's content changes, until `signal` aborts.
 * A file that is unreadable for a short time (an editor replaces it) has not changed.
 * Calls `onSameText` when the file was written or replaced and has the text that it had; one save may give several calls.
 */
export function watchText(
  file: string,
  known: string,
  onText: (text: string) => void,
  signal: AbortSignal,
  onSameText: (text: string) => void = () => {},
): void {
  if (signal.aborted) return;
  let last = known;
  let lastSave = saveOf(file);
  let gathering: NodeJS.Timeout | undefined;
  const check = async (): Promise<void> => {
    const save = saveOf(file); // before the text: a write in between is found by the next check
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (signal.aborted || text === undefined) return;
    const isSaved = save !== lastSave;
    lastSave = save;
    if (text !== last) {
      last = text;
      onText(text);
    } else if (isSaved) onSameText(text);
  };
  // the folder, not the file: the watch of a file ends when the file is replaced
  const onChange = (name: string | null): void => {
    if (name !== null && name !== basename(file)) return;
    clearTimeout(gathering);
    gathering = setTimeout(() => void check(), GATHER_MS).unref();
  };
  const watch = watchFolder(dirname(file), onChange);
  const polling = setInterval(() => void check(), POLL_MS).unref();
  signal.addEventListener(
    'abort',
    () => {
      clearTimeout(gathering);
      clearInterval(polling);
      watch?.[Symbol.dispose]();
    },
    { once: true },
  );
}

/** Differs after each write of a file, and when it or a link to it is replaced. Empty for a file that cannot be reached. */
function saveOf(file: string): string {
  try {
    const { ino, mtimeMs } = statSync(file);
    return `${ino} ${mtimeMs}`;
  } catch {
    return '';
  }
}
