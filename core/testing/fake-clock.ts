/** A clock that changes only when it is moved. */
export interface FakeClock {
  /** Epoch milliseconds; pass it as `now`. */
  readonly now: () => number;
  advance(ms: number): void;
}

/** Makes a clock at a fixed time. */
export function fakeClock(startMs: number = Date.UTC(2026, 0, 1)): FakeClock {
  let nowMs = startMs;
  return {
    now: () => nowMs,
    advance(ms) {
      nowMs += ms;
    },
  };
}
