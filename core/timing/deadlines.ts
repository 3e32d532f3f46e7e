import { InFlightMap } from './in-flight-map.ts';

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
