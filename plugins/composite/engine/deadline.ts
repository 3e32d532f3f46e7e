import { LATE, LONGEST_TIMER_MS, within } from '@toolmgr/core';

/** The abort reason of a deadline. */
export class DeadlineExceeded extends Error {
  constructor() {
    super('deadline exceeded');
    this.name = 'DeadlineExceeded';
  }
}

/**
 * Runs a function with a signal that aborts with `parent` or at the deadline. Rejects then, even when `run` ignores the
 * signal.
 * @throws DeadlineExceeded, the abort reason of `parent`, or what `run` throws
 */
export async function withDeadline<T>(
  parent: AbortSignal,
  timeoutMs: number,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  parent.throwIfAborted();
  const ending = new AbortController();
  try {
    const result = await within(timeoutMs, parent, run(ending.signal));
    if (result === LATE) throw new DeadlineExceeded();
    return result;
  } catch (cause) {
    ending.abort(cause);
    throw cause;
  }
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

/** Waits; rejects with the reason of the signal when it aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await within(ms, signal, new Promise<never>(() => {})); // one each: a shared one would keep all its waiters
}
