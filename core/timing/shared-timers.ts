import { InFlightMap } from './in-flight.ts';

/** Something with a deadline. */
export interface WithDeadline {
  /** By `performance.now()`; `Infinity` while the clock is stopped. */
  readonly dueMs: number;
  expire(): void;
}

/**
 * One timer for all deadlines: one timer per request costs more than the rest of its bookkeeping. Entries expire up to
 * {@link TICK_MS} late; the timer runs only while there are entries.
 */
export class Deadlines {
  readonly #bounded = new InFlightMap<WithDeadline, WithDeadline>();
  #ticking: NodeJS.Timeout | undefined;

  add(bounded: WithDeadline): void {
    this.#bounded.set(bounded, bounded);
    this.#ticking ??= setInterval(() => this.#tick(), TICK_MS);
  }

  delete(bounded: WithDeadline): void {
    this.#bounded.delete(bounded);
  }

  #tick(): void {
    if (this.#bounded.size === 0) {
      clearInterval(this.#ticking);
      this.#ticking = undefined;
      return;
    }
    const nowMs = performance.now();
    for (const bounded of this.#bounded.values()) if (bounded.dueMs <= nowMs) bounded.expire();
  }
}

/** How late a deadline may be noticed. */
export const TICK_MS = 20;

/** Called periodically: an open stream, or a call that takes long. */
export interface HeartbeatListener {
  beat(): void;
}

/** One timer for all open streams and waiting calls. */
export interface Heartbeat {
  /** Open event streams. */
  readonly streams: Set<HeartbeatListener>;
  /**
   * Calls that wait for their result. Each request adds and deletes one, so this is not a Set: see {@link InFlightMap}.
   */
  readonly calls: {
    add(listener: HeartbeatListener): void;
    delete(listener: HeartbeatListener): void;
  };
  stop(): void;
}

/** Calls every listener once per `intervalMs`. Errors are reported and do not affect other listeners. */
export function createHeartbeat(intervalMs: number, report: (cause: unknown) => void): Heartbeat {
  const streams = new Set<HeartbeatListener>();
  const calls = new InFlightMap<HeartbeatListener, HeartbeatListener>();
  const beat = (): void => {
    for (const each of [...calls.values(), ...streams]) {
      try {
        each.beat();
      } catch (cause) {
        report(cause);
      }
    }
  };
  const timer = setInterval(beat, intervalMs);
  timer.unref();
  return {
    streams,
    calls: {
      add: (listener) => calls.set(listener, listener),
      delete: (listener) => void calls.delete(listener),
    },
    stop: () => clearInterval(timer),
  };
}
