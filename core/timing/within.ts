/** Result of {@link within} after a timeout. */
export const LATE: unique symbol = Symbol('late');

/** Longer timers fire at once. */
export const LONGEST_TIMER_MS = 2_147_483_647;

/**
 * Waits for work for at most `ms` milliseconds. The timeout and the signal end the wait, not the work: its later result
 * is ignored. Leaves no timer and no listener.
 * @throws what the work throws; the signal's reason when it aborts first
 */
export function within<T>(ms: number, signal: AbortSignal | undefined, work: Promise<T>): Promise<T | typeof LATE> {
  return new Promise((resolve, reject) => {
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    };
    const onAbort = (): void => {
      done();
      reject(signal?.reason);
    };
    const timer = setTimeout(
      () => {
        done();
        resolve(LATE);
      },
      Math.min(ms, LONGEST_TIMER_MS),
    );
    signal?.addEventListener('abort', onAbort);
    if (signal?.aborted) onAbort();
    work.then(
      (value) => {
        done();
        resolve(value);
      },
      (cause: unknown) => {
        done();
        reject(cause);
      },
    );
  });
}
