import { type LogEntry, sentenceOf } from './text-line.ts';

/** Time in which repeated lines are counted instead of printed. */
export const WINDOW_MS = 60_000;
/** Different lines that are remembered; the oldest is forgotten first. */
export const MAX_KEYS = 256;

/** Decides which lines are printed. */
export interface Repeats {
  /** Whether a line is printed. A repeated one is counted, and the count is printed at the end of the window. */
  isNew(entry: LogEntry): boolean;
  /** Prints the counts of all windows now. */
  flush(): void;
}

interface Window {
  readonly entry: LogEntry;
  readonly end: NodeJS.Timeout;
  more: number;
}

/**
 * Counts lines that are equal apart from numbers and identifiers: same backend, level and sentence. `printMore` prints
 * `… 12 more times in 60 s` for the first of them.
 */
export function createRepeats(printMore: (entry: LogEntry, more: string) => void, now: () => number): Repeats {
  const windows = new Map<string, Window>();
  const close = (key: string): void => {
    const window = windows.get(key);
    if (window === undefined) return;
    windows.delete(key);
    clearTimeout(window.end);
    if (window.more === 0) return;
    const seconds = Math.max(1, Math.round((now() - window.entry.atMs) / 1000));
    const times = window.more === 1 ? '1 more time' : `${window.more} more times`;
    printMore(window.entry, `… ${times} in ${seconds} s`);
  };
  return {
    isNew(entry) {
      const key = keyOf(entry);
      const window = windows.get(key);
      if (window !== undefined) {
        window.more++;
        return false;
      }
      if (windows.size >= MAX_KEYS) close(windows.keys().next().value ?? '');
      windows.set(key, { entry, end: setTimeout(() => close(key), WINDOW_MS).unref(), more: 0 });
      return true;
    },
    flush() {
      for (const key of [...windows.keys()]) close(key);
    },
  };
}

function keyOf({ level, message, fields }: LogEntry): string {
  const backend = typeof fields?.backend === 'string' ? fields.backend : '';
  return `${backend}\n${level}\n${sentenceOf(message, fields).replace(VARYING, '#')}`;
}

/** Identifiers in hexadecimal digits, and numbers. */
const VARYING = /\b[0-9a-f]{8}[0-9a-f-]*\b|\d+/gi;
