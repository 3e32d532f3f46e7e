/**
 * The places of a bounded resource by who holds them, oldest first.
 *
 * A caller may hold `perCaller` places; for one more it gives up one of its own. When all `total` places are taken, the
 * caller that holds the most gives one up for a caller that holds less: nobody can shut others out by taking everything.
 */
export class Shares<T> {
  readonly #total: number;
  readonly #perCaller: number;
  readonly #held = new Map<string, Set<T>>();
  #size = 0;

  constructor(total: number, perCaller: number) {
    this.#total = total;
    this.#perCaller = perCaller;
  }

  get size(): number {
    return this.#size;
  }

  add(key: string, item: T): void {
    const own = this.#held.get(key) ?? new Set();
    if (own.has(item)) return;
    if (own.size === 0) this.#held.set(key, own);
    own.add(item);
    this.#size++;
  }

  delete(key: string, item: T): void {
    const own = this.#held.get(key);
    if (own?.delete(item) !== true) return;
    this.#size--;
    if (own.size === 0) this.#held.delete(key);
  }

  /** Puts an item behind the others of its holder, as if it had come now. */
  renew(key: string, item: T): void {
    const own = this.#held.get(key);
    if (own?.delete(item) === true) own.add(item);
  }

  /** The places of one holder, oldest first. */
  of(key: string): Iterable<T> {
    return this.#held.get(key) ?? NOTHING;
  }

  /** The places of each holder, oldest first. */
  holders(): Iterable<Iterable<T>> {
    return this.#held.values();
  }

  /**
   * The places of which one has to be given up before `key` gets one more, oldest first; `undefined` while there is room.
   * None when it holds none itself and nobody else holds more than one: then it has to wait.
   */
  donor(key: string): Iterable<T> | undefined {
    const own = this.#held.get(key);
    const count = own?.size ?? 0;
    if (own !== undefined && count >= this.#perCaller) return own;
    if (this.#size < this.#total) return undefined;
    let most: Set<T> | undefined;
    for (const held of this.#held.values()) if (held.size > (most?.size ?? 0)) most = held;
    return most !== undefined && most.size > count + 1 ? most : (own ?? NOTHING);
  }

  clear(): void {
    this.#held.clear();
    this.#size = 0;
  }
}

const NOTHING: readonly never[] = [];
