/**
 * A map for entries that are added and deleted with every request.
 *
 * Not a Map: V8 replaces the table of a Map with many additions and deletions again and again. Each old table keeps its
 * entries alive, and through its successor all later ones, until the next full garbage collection, so that most of the
 * memory of each request survived the cheap collections.
 *
 * Shape: keys are unique, the order is undefined. A look-up scans from the newest entry, which is fast enough for up to
 * a few thousand requests in flight.
 */
export class InFlightMap<K, V> {
  // Never shortened: V8 gives an array that shrinks and grows a new store each time, with the same effect as above.
  readonly #keys: (K | undefined)[] = [];
  readonly #values: (V | undefined)[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(key: K): V | undefined {
    const at = this.#placeOf(key);
    return at === -1 ? undefined : this.#values[at];
  }

  has(key: K): boolean {
    return this.#placeOf(key) !== -1;
  }

  set(key: K, value: V): void {
    const known = this.#placeOf(key);
    const at = known === -1 ? this.#size++ : known;
    this.#keys[at] = key;
    this.#values[at] = value;
  }

  /** Returns whether the key existed. The last entry takes its position. */
  delete(key: K): boolean {
    const at = this.#placeOf(key);
    if (at === -1) return false;
    const last = --this.#size;
    this.#keys[at] = this.#keys[last];
    this.#values[at] = this.#values[last];
    this.#keys[last] = undefined;
    this.#values[last] = undefined;
    return true;
  }

  /** A copy of the entries; adding and deleting meanwhile does not change it. */
  values(): V[] {
    return this.#values.slice(0, this.#size) as V[];
  }

  clear(): void {
    this.#keys.fill(undefined);
    this.#values.fill(undefined);
    this.#size = 0;
  }

  #placeOf(key: K): number {
    return this.#size === 0 ? -1 : this.#keys.lastIndexOf(key, this.#size - 1);
  }
}

/** Counts active requests, and reports when none is left. */
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
