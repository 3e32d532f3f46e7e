import type { Log } from './plugin.ts';

/** Warns of what may happen thousands of times a second: the first time at once, then once a minute with the count. */
export function toldSeldom({ log, now }: { readonly log: Log; now(): number }, what: string): { one(): void } {
  let count = 0;
  let toldAtMs = Number.NEGATIVE_INFINITY;
  return {
    one() {
      count++;
      if (now() - toldAtMs < EVERY_MS) return;
      log.warn(what, { count });
      toldAtMs = now();
      count = 0;
    },
  };
}

const EVERY_MS = 60_000;
