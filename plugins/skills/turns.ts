/** Lets only some of many works run at the same time; the others wait in order. */
export interface Turns {
  /** Waits and runs the work. @throws the reason of `signal` when it ends before the turn comes */
  run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T>;
}

/** Makes turns for `limit` works at once. */
export function createTurns(limit: number): Turns {
  let running = 0;
  const waiting: (() => void)[] = [];
  const turn = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const begin = (): void => {
        signal.removeEventListener('abort', leave);
        running++;
        resolve();
      };
      const leave = (): void => {
        waiting.splice(waiting.indexOf(begin), 1);
        reject(signal.reason);
      };
      if (running < limit) return begin();
      signal.addEventListener('abort', leave, { once: true });
      waiting.push(begin);
    });
  return {
    async run(signal, work) {
      signal.throwIfAborted();
      await turn(signal);
      try {
        return await work();
      } finally {
        running--;
        waiting.shift()?.();
      }
    },
  };
}
