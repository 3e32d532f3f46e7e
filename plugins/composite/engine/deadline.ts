/** The abort reason of a deadline. */
export class DeadlineExceeded extends Error {
  constructor() {
    super('deadline exceeded');
    this.name = 'TimeOver';
  }
}

/**
 * Runs a function with a signal that aborts with `parent` or at the deadline. Rejects then, even when `run` ignores the
 * signal.
 * @throws TimeOver, the abort reason of `parent`, or what `run` throws
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

/** Like {@link withDeadline}, but waits until `run` has ended; for functions that honour the signal. */
export async function untilDeadline<T>(
  parent: AbortSignal,
  timeoutMs: number,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  parent.throwIfAborted();
  const controller = new AbortController();
  const follow = (): void => controller.abort(parent.reason);
  const timer = setTimeout(() => controller.abort(new DeadlineExceeded()), Math.min(timeoutMs, LONGEST_TIMER_MS));
  parent.addEventListener('abort', follow, { once: true });
  try {
    return await run(controller.signal);
  } finally {
    clearTimeout(timer);
    parent.removeEventListener('abort', follow);
  }
}

const LONGEST_TIMER_MS = 2_147_483_647; // Node fires longer timers immediately

/** Waits; rejects with the reason of the signal when it aborts. */
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
