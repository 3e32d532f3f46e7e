/** Why a deadline ended something. */
export class TimeOver extends Error {
  constructor() {
    super('the time is over');
    this.name = 'TimeOver';
  }
}

/**
 * Runs something with a signal that aborts when `parent` does or when its time is over, and does not wait longer than that
 * even when nobody heeds the signal.
 * @throws TimeOver, or what `parent` was aborted with, or what `run` throws
 */
export function withDeadline<T>(
  parent: AbortSignal,
  timeoutMs: number,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return untilDeadline(parent, timeoutMs, async (signal) => {
    let stop = (): void => {};
    const ended = new Promise<never>((_, reject) => {
      stop = () => reject(signal.reason);
      signal.addEventListener('abort', stop, { once: true });
    });
    try {
      return await Promise.race([run(signal), ended]);
    } finally {
      signal.removeEventListener('abort', stop);
    }
  });
}

/** As {@link withDeadline}, for what is known to heed its signal: it is waited for. */
export async function untilDeadline<T>(
  parent: AbortSignal,
  timeoutMs: number,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  parent.throwIfAborted();
  const controller = new AbortController();
  const follow = (): void => controller.abort(parent.reason);
  const timer = setTimeout(() => controller.abort(new TimeOver()), Math.min(timeoutMs, LONGEST_TIMER_MS));
  parent.addEventListener('abort', follow, { once: true });
  try {
    return await run(controller.signal);
  } finally {
    clearTimeout(timer);
    parent.removeEventListener('abort', follow);
  }
}

const LONGEST_TIMER_MS = 2_147_483_647; // longer ones fire at once

/** Waits; ends early by rejecting with the reason of the signal. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal.addEventListener('abort', stop, { once: true });
  });
}
