import type { JsonObject } from '../contract/json.ts';
import type { Log } from './plugin.ts';

/** One log line about something that may happen thousands of times a second. */
export interface ThrottledLine {
  /** Writes the first time at once, then at most once a minute, with the count since the line before. */
  add(fields?: JsonObject, times?: number): void;
  /** Writes what is counted and not written. */
  flush(): void;
}

/** Makes the line. `now` is in milliseconds; `counted` is the name of the field that counts. */
export function throttledLine(
  { log, now }: { readonly log: Log; now(): number },
  message: string,
  { level = 'warn', counted = 'count' }: { readonly level?: 'warn' | 'error'; readonly counted?: string } = {},
): ThrottledLine {
  let count = 0;
  let latest: JsonObject | undefined;
  let writtenMs = Number.NEGATIVE_INFINITY;
  const write = (): void => {
    log[level](message, { ...latest, [counted]: count });
    writtenMs = now();
    count = 0;
  };
  return {
    add(fields, times = 1) {
      count += times;
      latest = fields;
      if (now() - writtenMs >= EVERY_MS) write();
    },
    flush() {
      if (count > 0) write();
    },
  };
}

const EVERY_MS = 60_000;
