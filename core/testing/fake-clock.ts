/** A clock that stands still until it is moved. */
export interface FakeClock {
  /** Epoch milliseconds; hand it over as `now`. */
  readonly now: () => number;
  advance(ms: number): void;
}

/** Makes a clock at a fixed, memorable moment. */
export function fakeClock(startMs: number = Date.UTC(2026, 0, 1)): FakeClock {
  let nowMs = startMs;
  return {
    now: () => nowMs,
    advance(ms) {
      nowMs += ms;
    },
  };
}
