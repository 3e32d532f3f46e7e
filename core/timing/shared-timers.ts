import { InFlightMap } from './in-flight.ts';

/** Something that may take only so long. */
export interface Bounded {
  /** By `performance.now()`; `Infinity` while its clock stands. */
  readonly dueMs: number;
  expire(): void;
}

/**
 * One clock for everything that is in flight, instead of a timer each: a timer per request costs more than the request's
 * own bookkeeping. Expires what is due up to {@link TICK_MS} late; ticks only while there is something.
 */
export class Deadlines {
  readonly #bounded = new InFlightMap<Bounded, Bounded>();
  #ticking: NodeJS.Timeout | undefined;

  add(bounded: Bounded): void {
    this.#bounded.set(bounded, bounded);
    this.#ticking ??= setInterval(() => this.#tick(), TICK_MS);
  }

  delete(bounded: Bounded): void {
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

/** What is called from time to time: an open stream, a call that takes long. */
export interface HeartbeatListener {
  beat(): void;
}

/** One timer for all open streams and waiting calls, instead of one each. */
export interface Heartbeat {
  /** Open event streams. */
  readonly streams: Set<HeartbeatListener>;
  /** Calls that wait for their result. Each request adds and deletes one, so this is no Set: see {@link InFlightMap}. */
  readonly calls: {
    add(listener: HeartbeatListener): void;
    delete(listener: HeartbeatListener): void;
  };
  stop(): void;
}

/** Calls everything added once per `intervalMs`. What throws is reported and does not keep the others from their beat. */
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
