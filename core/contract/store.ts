/** Slot `stores`: keyed bytes with a time to live, and token buckets. */
export interface Store {
  /**
   * Resolves `undefined` for an unknown or expired key. With `ttlMs` an existing value gets this new time to live,
   * atomically: a value that was deleted meanwhile is not restored.
   */
  get(key: string, ttlMs?: number): Promise<string | undefined>;
  set(key: string, value: string, ttlMs: number): Promise<void>;
  delete(key: string): Promise<void>;
  /**
   * Takes one token from every bucket, or from none.
   *
   * Units: `capacity` in tokens; `refillPeriodMs` from empty to full; the result in whole milliseconds, 0 = granted,
   * otherwise the longest wait. Fails with STORE_UNAVAILABLE when the store does not answer, and with STORE_FULL when a
   * new bucket has no room: a store never evicts a bucket that is not full again.
   */
  take(buckets: readonly Bucket[], nowMs: number): Promise<number>;
  close(): Promise<void>;
}

/** One token bucket; full when first used. */
export interface Bucket {
  readonly key: string;
  readonly capacity: number;
  readonly refillPeriodMs: number;
}
