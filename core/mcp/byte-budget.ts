import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import type { BytesInFlight, MemoryBudget } from '../contract/bytes-in-flight.ts';
import type { Inbound } from '../contract/inbound.ts';
import type { Limits } from '../limits.ts';

/** The bytes of one caller, or of one backend before they belong to a call. */
interface ByteShare {
  bytes: number;
}

/** A reader that was paused until the budget has space. */
interface WaitingReader {
  readonly held: HeldBytes;
  readonly timer: NodeJS.Timeout;
  proceed(): void;
  refuse(): void;
}

/**
 * Limits the memory of everything that is in flight: request bodies, results of backends, and responses that clients
 * have not read.
 *
 * A share may hold as many bytes as are still free, so one caller takes at most half of the budget, two together two
 * thirds, and there is always space for the next one. Readers of backends wait when there is no space; the one that waits
 * longest may go beyond its share, and the others of its share wait for it, so that results are completed one by one.
 */
export class ByteBudget implements MemoryBudget {
  readonly #most: number;
  readonly #waitMs: number;
  readonly #onRefused: ((now: BytesInFlight) => void) | undefined;
  readonly #shares = new Map<string, ByteShare>();
  readonly #line = new Set<WaitingReader>();
  /** May go beyond its share. */
  #favoured: HeldBytes | undefined;
  #held = 0;
  #refused = 0;
  #stored: ByteBudget | undefined;

  /** `onRefused` is called for each refusal. */
  constructor(
    { memoryBudgetBytes, memoryWaitMs }: Pick<Limits, 'memoryBudgetBytes' | 'memoryWaitMs'>,
    onRefused?: (now: BytesInFlight) => void,
  ) {
    this.#onRefused = onRefused;
    this.#most = memoryBudgetBytes === 0 ? Math.floor(memoryLimit() / PART_OF_MEMORY) : memoryBudgetBytes;
    this.#waitMs = memoryWaitMs;
  }

  get now(): BytesInFlight {
    return { held: this.#held, most: this.#most, refused: this.#refused };
  }

  /** The budget of events that may be sent again: they are kept for a minute and would take space from what is in flight. */
  get stored(): ByteBudget {
    const memoryBudgetBytes = Math.max(1, Math.floor(this.#most / STORED_PART));
    this.#stored ??= new ByteBudget({ memoryBudgetBytes, memoryWaitMs: 0 });
    return this.#stored;
  }

  /** The bytes of one holder; `key` names its share. */
  holder(key = ''): HeldBytes {
    return new HeldBytes(this, this.shareOf(key));
  }

  shareOf(key: string): ByteShare {
    return this.#shares.get(key) ?? this.#begin(key);
  }

  /** Whether a holder may hold this many bytes more. */
  hasSpace(held: HeldBytes, bytes: number): boolean {
    if (held.share.bytes + bytes <= this.#most - this.#held - bytes) return true;
    return held === this.#favoured && this.#held + bytes <= this.#most - this.#most / RESERVED_PART;
  }

  /** A share has more or, below zero, fewer bytes. */
  changed(share: ByteShare, bytes: number): void {
    share.bytes += bytes;
    this.#held += bytes;
    if (bytes < 0 && this.#line.size > 0) this.#advance();
  }

  /** A reader has no part of a message any more: the next may go beyond its share. */
  ended(held: HeldBytes): void {
    if (this.#favoured === held) this.#favoured = undefined;
  }

  /** Something was refused because there was no space. */
  refused(): void {
    this.#refused++;
    this.#onRefused?.(this.now);
  }

  /** Calls `proceed` when there is space, or `refuse` when there is none in time. Returns a function that ends the wait. */
  wait(held: HeldBytes, proceed: () => void, refuse: () => void): () => void {
    const waiting: WaitingReader = {
      held,
      proceed,
      refuse,
      timer: setTimeout(() => this.#refuse(waiting), this.#waitMs).unref(),
    };
    this.#line.add(waiting);
    setImmediate(() => this.#advance()); // nothing else would notice that all readers wait for each other
    return () => this.#leave(waiting);
  }

  /** Lets readers proceed, oldest first. When all bytes are held by readers that wait, the one with the fewest is refused. */
  #advance(): void {
    let granted = 0;
    for (const waiting of this.#line) {
      this.#favoured ??= waiting.held;
      if (waiting.held !== this.#favoured && waiting.held.share === this.#favoured.share) continue;
      if (!this.hasSpace(waiting.held, granted + STEP_BYTES)) continue;
      granted += STEP_BYTES;
      this.#leave(waiting);
      waiting.proceed();
    }
    if (granted > 0 || this.#line.size === 0 || !this.#isStuck()) return;
    let least: WaitingReader | undefined;
    for (const waiting of this.#line) if (isWorthLess(waiting, least, this.#favoured)) least = waiting;
    if (least !== undefined) this.#refuse(least);
  }

  #isStuck(): boolean {
    const waiting = new Set<HeldBytes>();
    for (const { held } of this.#line) waiting.add(held);
    let bytes = 0;
    for (const held of waiting) bytes += held.bytes;
    return this.#held - bytes < STEP_BYTES;
  }

  #leave(waiting: WaitingReader): void {
    clearTimeout(waiting.timer);
    this.#line.delete(waiting);
  }

  #refuse(waiting: WaitingReader): void {
    if (!this.#line.has(waiting)) return;
    this.#leave(waiting);
    this.refused();
    waiting.refuse();
  }

  #begin(key: string): ByteShare {
    if (this.#shares.size >= MAX_IDLE_SHARES) {
      for (const [each, { bytes }] of this.#shares) if (bytes === 0) this.#shares.delete(each);
    }
    const share: ByteShare = { bytes: 0 };
    this.#shares.set(key, share);
    return share;
  }
}

function isWorthLess(one: WaitingReader, other: WaitingReader | undefined, favoured: HeldBytes | undefined): boolean {
  if (other === undefined || other.held === favoured) return true;
  return one.held !== favoured && one.held.bytes <= other.held.bytes;
}

/** The bytes that one request, stream or program holds. */
export class HeldBytes {
  readonly budget: ByteBudget;
  share: ByteShare;
  bytes = 0;
  /** Nothing is counted any more. */
  isReleased = false;
  #uses = 1;

  constructor(budget: ByteBudget, share: ByteShare) {
    this.budget = budget;
    this.share = share;
  }

  /** Says whose bytes they are; before there are any. */
  belongsTo(key: string): void {
    this.share = this.budget.shareOf(key);
  }

  /** Another holder with the same share. */
  beside(): HeldBytes {
    return new HeldBytes(this.budget, this.share);
  }

  /** Holds more bytes, if there is space for them. */
  take(bytes: number): boolean {
    if (this.isReleased) return true;
    if (!this.budget.hasSpace(this, bytes)) return false;
    this.add(bytes);
    return true;
  }

  /**
   * Holds more bytes that are in memory already; fewer when below zero. After `release` nothing is counted, because no other
   * release would follow.
   */
  add(bytes: number): void {
    if (this.isReleased) return;
    this.bytes += bytes;
    this.budget.changed(this.share, bytes);
  }

  /** The bytes are needed when the request has its response, too: one `release` more frees them. */
  keep(): void {
    this.#uses++;
  }

  release(): void {
    if (--this.#uses > 0) return;
    this.budget.ended(this);
    if (this.bytes !== 0) this.add(-this.bytes);
    this.isReleased = true;
  }
}

/** The bytes of a request; `undefined` for calls of code. */
export function heldOf(inbound: Pick<Inbound, 'held'> | undefined): HeldBytes | undefined {
  return inbound?.held as HeldBytes | undefined; // only the endpoint sets it
}

/**
 * Memory that this process may use: that of its control group, else the heap that V8 may take, which `--max-old-space-size`
 * sets.
 */
function memoryLimit(): number {
  const group = process.constrainedMemory();
  const machine = totalmem();
  return group > 0 && group < machine ? group : Math.min(getHeapStatistics().heap_size_limit, machine);
}

const PART_OF_MEMORY = 3; // the rest is for the program, copies that are made while sending, and garbage
const STORED_PART = 8; // of the budget, for events that may be sent again
const RESERVED_PART = 8; // of the budget, kept free of a reader that goes beyond its share
const STEP_BYTES = 65_536; // bytes of one read
const MAX_IDLE_SHARES = 1024; // shares without bytes that are kept
