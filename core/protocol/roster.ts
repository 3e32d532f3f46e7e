/**
 * Things that come and go with every request, by key.
 *
 * Not a Map: V8 replaces the table of a Map that has many additions and deletions again and again, and each old table
 * keeps what was in flight when it was replaced, and through its successor all that came later, until the next full
 * collection. With requests in it, that made most of each request outlive the cheap collections.
 *
 * Shape: keys are unique; order means nothing. Looking up is a scan from the newest, so it suits what is bounded by
 * what is in flight, up to a few thousand.
 */
export class Roster<K, V> {
  readonly #keys: (K | undefined)[] = [];
  readonly #values: (V | undefined)[] = [];

  get size(): number {
    return this.#keys.length;
  }

  get(key: K): V | undefined {
    const at = this.#keys.lastIndexOf(key);
    return at === -1 ? undefined : this.#values[at];
  }

  has(key: K): boolean {
    return this.#keys.includes(key);
  }

  set(key: K, value: V): void {
    const at = this.#keys.lastIndexOf(key);
    if (at !== -1) {
      this.#values[at] = value;
      return;
    }
    this.#keys.push(key);
    this.#values.push(value);
  }

  /** Says whether it was there. The last one takes its place. */
  delete(key: K): boolean {
    const at = this.#keys.lastIndexOf(key);
    if (at === -1) return false;
    const lastKey = this.#keys.pop();
    const lastValue = this.#values.pop();
    if (at < this.#keys.length) {
      this.#keys[at] = lastKey;
      this.#values[at] = lastValue;
    }
    return true;
  }

  /** What is there now; adding and deleting meanwhile changes nothing of it. */
  values(): V[] {
    return this.#values.slice() as V[];
  }

  clear(): void {
    this.#keys.length = 0;
    this.#values.length = 0;
  }
}
