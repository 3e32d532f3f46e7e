import { type Bucket, GatewayFault, type Store } from '@toolmgr/core';

interface Value {
  readonly text: string;
  readonly expiresAtMs: number;
}

interface Level {
  tokens: number;
  atMs: number;
  /** When the bucket is full and can be deleted. */
  fullAtMs: number;
}

/** Maximum keys of one sweep, so that it does not block the event loop. */
const SWEEP_KEYS = 5_000;
/** Minimum interval between full sweeps of a full store. */
const FULL_SWEEP_EVERY_MS = 1_000;

/** A store in the memory of this process. */
export class MemoryStore implements Store {
  readonly #maxKeys: number;
  readonly #now: () => number;
  readonly #values = new Map<string, Value>();
  readonly #levels = new Map<string, Level>();
  #valueSweep: MapIterator<[string, Value]> | undefined;
  #levelSweep: MapIterator<[string, Level]> | undefined;
  #sweptAllAtMs = Number.NEGATIVE_INFINITY;
  #closed = false;

  constructor(options: { readonly maxKeys: number; readonly now: () => number }) {
    this.#maxKeys = options.maxKeys;
    this.#now = options.now;
  }

  async get(key: string, ttlMs?: number): Promise<string | undefined> {
    this.#requireOpen();
    const value = this.#values.get(key);
    if (value === undefined) return undefined;
    if (value.expiresAtMs <= this.#now()) {
      this.#values.delete(key);
      return undefined;
    }
    if (ttlMs !== undefined) this.#values.set(key, { text: value.text, expiresAtMs: this.#now() + ttlMs });
    return value.text;
  }

  async set(key: string, value: string, ttlMs: number): Promise<void> {
    this.#requireOpen();
    if (!this.#values.has(key)) this.#requireSpace(this.#values, 1);
    this.#values.set(key, { text: value, expiresAtMs: this.#now() + ttlMs });
  }

  async delete(key: string): Promise<void> {
    this.#requireOpen();
    this.#values.delete(key);
  }

  async take(buckets: readonly Bucket[], nowMs: number): Promise<number> {
    this.#requireOpen();
    const left: number[] = [];
    let waitMs = 0;
    let added = 0;
    for (const bucket of buckets) {
      const earlier = earlierIndexOf(buckets, left.length);
      const level = this.#levels.get(bucket.key);
      if (earlier < 0 && level === undefined) added += 1;
      const tokens = earlier < 0 ? tokensAt(level, bucket, nowMs) : (left[earlier] ?? 0);
      waitMs = Math.max(waitMs, waitForOne(tokens, bucket));
      left.push(tokens - 1);
    }
    if (waitMs > 0) return waitMs;
    this.#requireSpace(this.#levels, added);
    for (const [index, bucket] of buckets.entries()) this.#storeLevel(bucket, left[index] ?? 0, nowMs);
    return 0;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#values.clear();
    this.#levels.clear();
  }

  /** Drops expired values and full buckets among the next {@link SWEEP_KEYS} keys of each kind. */
  sweep(limit = SWEEP_KEYS): void {
    const nowMs = this.#now();
    this.#valueSweep = sweepSome(this.#values, this.#valueSweep, limit, (value) => value.expiresAtMs <= nowMs);
    this.#levelSweep = sweepSome(this.#levels, this.#levelSweep, limit, (level) => level.fullAtMs <= nowMs);
  }

  /** Number of values and buckets, including expired ones. */
  get size(): number {
    return this.#values.size + this.#levels.size;
  }

  #storeLevel({ key, capacity, refillPeriodMs }: Bucket, tokens: number, nowMs: number): void {
    const fullAtMs = nowMs + Math.ceil(((capacity - tokens) * refillPeriodMs) / capacity);
    const level = this.#levels.get(key);
    if (level === undefined) {
      this.#levels.set(key, { tokens, atMs: nowMs, fullAtMs });
      return;
    }
    level.tokens = tokens;
    level.atMs = nowMs;
    level.fullAtMs = fullAtMs;
  }

  /** Sweeps all keys of a full store, at most once a second. */
  #sweepAll(): void {
    const nowMs = this.#now();
    if (nowMs - this.#sweptAllAtMs < FULL_SWEEP_EVERY_MS) return;
    this.#sweptAllAtMs = nowMs;
    this.#valueSweep = undefined;
    this.#levelSweep = undefined;
    this.sweep(Number.POSITIVE_INFINITY);
  }

  #requireOpen(): void {
    if (this.#closed) throw new GatewayFault('STORE_UNAVAILABLE', 'stores/memory: the store is closed');
  }

  /** Values and buckets have separate bounds. */
  #requireSpace(entries: ReadonlyMap<string, unknown>, added: number): void {
    if (entries.size + added <= this.#maxKeys) return;
    this.#sweepAll();
    if (entries.size + added <= this.#maxKeys) return;
    throw new GatewayFault(
      'STORE_FULL',
      `stores/memory: ${this.#maxKeys} keys are in use (maxKeys); raise it or use a store outside the process`,
    );
  }
}

/** The last index before `index` with the same bucket; -1 for none. */
function earlierIndexOf(buckets: readonly Bucket[], index: number): number {
  const key = buckets[index]?.key;
  let earlier = index - 1;
  while (earlier >= 0 && buckets[earlier]?.key !== key) earlier -= 1;
  return earlier;
}

/** The tokens of a bucket now; its capacity when it is new. A clock that steps back loses no tokens. */
function tokensAt(level: Level | undefined, { capacity, refillPeriodMs }: Bucket, nowMs: number): number {
  if (level === undefined) return capacity;
  const gained = (Math.max(0, nowMs - level.atMs) * capacity) / refillPeriodMs;
  return Math.min(capacity, level.tokens + gained);
}

/** Milliseconds until the bucket has a token; 0 when it has one. */
function waitForOne(tokens: number, { capacity, refillPeriodMs }: Bucket): number {
  const missing = 1 - tokens;
  if (missing <= ROUNDING) return 0;
  return Math.max(1, Math.ceil((missing * refillPeriodMs) / capacity - ROUNDING));
}

const ROUNDING = 1e-9; // three thirds of a token are a token

function sweepSome<V>(
  map: Map<string, V>,
  from: MapIterator<[string, V]> | undefined,
  limit: number,
  isDone: (value: V) => boolean,
): MapIterator<[string, V]> | undefined {
  const entries = from ?? map.entries();
  for (let seen = 0; seen < limit; seen++) {
    const next = entries.next();
    if (next.done === true) return undefined;
    const [key, value] = next.value;
    if (isDone(value)) map.delete(key);
  }
  return entries;
}
