/** The pause before try number `attempt` (1, 2, …): doubling, bounded, scattered by a quarter either way. */
export function backOffMs(attempt: number, firstMs: number, maxMs: number): number {
  const ms = Math.min(firstMs * 2 ** Math.min(attempt - 1, 16), maxMs);
  return ms * (0.75 + Math.random() * 0.5);
}

/**
 * Waits for something shared without holding on to it: the signal and the time end only this wait.
 * @throws the signal's reason · `late()` after `ms`
 */
export function waitFor<T>(shared: Promise<T>, ms: number, signal: AbortSignal, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    };
    const onAbort = () => {
      done();
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      done();
      reject(late());
    }, ms);
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
    shared.then(
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
