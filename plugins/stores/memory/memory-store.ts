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
    const drawn = new Map<string, Level>();
    let waitMs = 0;
    for (const bucket of buckets) {
      const level = drawn.get(bucket.key) ?? refilled(this.#levels.get(bucket.key), bucket, nowMs);
      drawn.set(bucket.key, level);
      waitMs = Math.max(waitMs, waitForOne(level, bucket));
      level.tokens -= 1;
      level.fullAtMs = nowMs + Math.ceil(((bucket.capacity - level.tokens) * bucket.refillPeriodMs) / bucket.capacity);
    }
    if (waitMs > 0) return waitMs;
    this.#expectRoom(this.#levels, [...drawn.keys()].filter((key) => !this.#levels.has(key)).length);
    for (const [key, level] of drawn) this.#levels.set(key, level);
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

/** A bucket's level now; full when never seen. The clock may step back: no tokens are lost by it. */
function refilled(level: Level | undefined, bucket: Bucket, nowMs: number): Level {
  if (level === undefined) return { tokens: bucket.capacity, atMs: nowMs, fullAtMs: nowMs };
  const gained = (Math.max(0, nowMs - level.atMs) * bucket.capacity) / bucket.refillPeriodMs;
  return { tokens: Math.min(bucket.capacity, level.tokens + gained), atMs: nowMs, fullAtMs: level.fullAtMs };
}

/** Milliseconds until the bucket has one token; 0 when it has. */
function waitForOne(level: Level, bucket: Bucket): number {
  const missing = 1 - level.tokens;
  if (missing <= ROUNDING) return 0;
  return Math.max(1, Math.ceil((missing * bucket.refillPeriodMs) / bucket.capacity - ROUNDING));
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
