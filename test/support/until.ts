import { setTimeout as delay } from 'node:timers/promises';

/** Polls until `look` gives something, and returns it; fails with `what` when the deadline passes. */
export async function until<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  deadlineMs = 10_000,
): Promise<T> {
  const endMs = performance.now() + deadlineMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > endMs) throw new Error(`not within ${deadlineMs} ms: ${what}`);
    await delay(20);
  }
}
