/** Counts requests that are being worked on, and tells when none is left. */
export interface InFlight {
  enter(): void;
  leave(): void;
  /** Resolves when nothing is in flight, or after `timeoutMs`. */
  idle(timeoutMs: number): Promise<void>;
}

export function createInFlight(): InFlight {
  let count = 0;
  const waiting = new Set<() => void>();
  return {
    enter() {
      count++;
    },
    leave() {
      count--;
      if (count === 0) for (const wake of waiting) wake();
    },
    idle(timeoutMs) {
      if (count === 0) return Promise.resolve();
      return new Promise((resolve) => {
        const done = (): void => {
          clearTimeout(timer);
          waiting.delete(done);
          resolve();
        };
        const timer = setTimeout(done, timeoutMs);
        waiting.add(done);
      });
    },
  };
}
