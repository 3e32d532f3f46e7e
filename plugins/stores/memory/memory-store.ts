import { type Bucket, GatewayFault, type Store } from '@toolmgr/core';

interface Value {
  readonly text: string;
  readonly expiresAtMs: number;
}

interface Level {
  tokens: number;
  atMs: number;
  /** From then on the bucket is full again, as if never seen. */
  fullAtMs: number;
}

/** Keys looked at in one sweep, so that a sweep never holds the event loop. */
const SWEEP_KEYS = 5_000;
/** A full store searches all its keys no more often than this. */
const FULL_SWEEP_EVERY_MS = 1_000;

/** A store that lives and dies with its process. */
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
    this.#expectOpen();
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
    this.#expectOpen();
    if (!this.#values.has(key)) this.#expectRoom(this.#values, 1);
    this.#values.set(key, { text: value, expiresAtMs: this.#now() + ttlMs });
  }

  async delete(key: string): Promise<void> {
    this.#expectOpen();
    this.#values.delete(key);
  }

  async take(buckets: readonly Bucket[], nowMs: number): Promise<number> {
    this.#expectOpen();
    const left: number[] = [];
    let waitMs = 0;
    let added = 0;
    for (const bucket of buckets) {
      const twin = earlierTwin(buckets, left.length);
      const level = this.#levels.get(bucket.key);
      if (twin < 0 && level === undefined) added += 1;
      const tokens = twin < 0 ? tokensAt(level, bucket, nowMs) : (left[twin] ?? 0);
      waitMs = Math.max(waitMs, waitForOne(tokens, bucket));
      left.push(tokens - 1);
    }
    if (waitMs > 0) return waitMs;
    this.#expectRoom(this.#levels, added);
    for (const [index, bucket] of buckets.entries()) this.#keep(bucket, left[index] ?? 0, nowMs);
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

  /** Values and buckets held, expired ones not yet swept included. */
  get size(): number {
    return this.#values.size + this.#levels.size;
  }

  #keep({ key, capacity, refillPeriodMs }: Bucket, tokens: number, nowMs: number): void {
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

  /** Everything at once, for when the store is full; at most once a second. */
  #sweepAll(): void {
    const nowMs = this.#now();
    if (nowMs - this.#sweptAllAtMs < FULL_SWEEP_EVERY_MS) return;
    this.#sweptAllAtMs = nowMs;
    this.#valueSweep = undefined;
    this.#levelSweep = undefined;
    this.sweep(Number.POSITIVE_INFINITY);
  }

  #expectOpen(): void {
    if (this.#closed) throw new GatewayFault('STORE_UNAVAILABLE', 'stores/memory: the store is closed');
  }

  /** Values and buckets have a bound each: neither can take the other's room. */
  #expectRoom(kept: ReadonlyMap<string, unknown>, added: number): void {
    if (kept.size + added <= this.#maxKeys) return;
    this.#sweepAll();
    if (kept.size + added <= this.#maxKeys) return;
    throw new GatewayFault(
      'STORE_FULL',
      `stores/memory: ${this.#maxKeys} keys are in use (maxKeys); raise it or use a store outside the process`,
    );
  }
}

/** The last place before `index` that names the same bucket; -1 for none. Few buckets are taken from at once. */
function earlierTwin(buckets: readonly Bucket[], index: number): number {
  const key = buckets[index]?.key;
  let twin = index - 1;
  while (twin >= 0 && buckets[twin]?.key !== key) twin -= 1;
  return twin;
}

/** What a bucket holds now; all when never seen. The clock may step back: no tokens are lost by it. */
function tokensAt(level: Level | undefined, { capacity, refillPeriodMs }: Bucket, nowMs: number): number {
  if (level === undefined) return capacity;
  const gained = (Math.max(0, nowMs - level.atMs) * capacity) / refillPeriodMs;
  return Math.min(capacity, level.tokens + gained);
}

/** Milliseconds until the bucket has one token; 0 when it has. */
function waitForOne(tokens: number, { capacity, refillPeriodMs }: Bucket): number {
  const missing = 1 - tokens;
  if (missing <= ROUNDING) return 0;
  return Math.max(1, Math.ceil((missing * refillPeriodMs) / capacity - ROUNDING));
}

const ROUNDING = 1e-9; // a third of a token three times is a token

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
