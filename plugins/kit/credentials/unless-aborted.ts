/** Waits for work that several callers share: rejects with the reason of `signal`, while the work continues for the others. */
export function unlessAborted<T>(shared: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    shared.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
