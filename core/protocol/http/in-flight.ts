/** Counts requests that are being worked on, and tells when none is left. */
export interface InFlight {
  enter(): void;
  leave(): void;
  /** Resolves when nothing is in flight, or after `timeoutMs`. */
  idle(timeoutMs: number): Promise<void>;
}

export function createInFlight(): InFlight {
  let count = 0;
  let wake: (() => void) | undefined;
  return {
    enter() {
      count++;
    },
    leave() {
      count--;
      if (count === 0) wake?.();
    },
    idle(timeoutMs) {
      if (count === 0) return Promise.resolve();
      return new Promise((resolve) => {
        const timer = setTimeout(resolve, timeoutMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    },
  };
}
