import type { Cancellation } from '../contract/cancellation.ts';
import { Shares } from '../mcp/shares.ts';
import { ConnectionFailure } from './failure.ts';

/** Limits of the calls of one backend. */
export interface CallLimits {
  /** Concurrent calls, of all callers and of one. */
  readonly places: number;
  readonly placesPerCaller: number;
  /** Queued calls, of all callers and of one. */
  readonly line: number;
  readonly linePerCaller: number;
}

/** The calls of one caller. */
export interface CallerCalls {
  readonly key: string;
  inside: number;
  /** Sequence number of its last start, over all callers. */
  turn: number;
}

/** A queued call. */
interface QueuedCall {
  readonly share: CallerCalls;
  go(): void;
  refuse(): void;
}

/**
 * Limits the concurrent calls of one backend; further calls wait in a queue, and calls beyond the queue are refused.
 *
 * A free slot goes to the waiting caller with the fewest running calls, so that no caller takes all slots. When the
 * queue is full, the caller with the most queued calls loses its oldest one to a caller with fewer.
 */
export class ConcurrencyLimit {
  readonly #backend: string;
  readonly #limits: CallLimits;
  readonly #shares = new Map<string, CallerCalls>();
  readonly #line: Shares<QueuedCall>;
  #inside = 0;
  #turns = 0;

  constructor(backend: string, limits: CallLimits) {
    this.#backend = backend;
    this.#limits = limits;
    this.#line = new Shares(limits.line, limits.linePerCaller);
  }

  get inside(): number {
    return this.#inside;
  }

  /** The calls of a caller; use the result at once. */
  shareOf(key: string): CallerCalls {
    return this.#shares.get(key) ?? this.#begin(key);
  }

  /**
   * Takes a slot: `undefined` when one is free, else a promise of one. Every `enter` needs one `leave`.
   * @throws ConnectionFailure BACKEND_BUSY when the queue is full; the promise also after `waitMs`, or with the signal's
   * reason
   */
  enter(share: CallerCalls, waitMs: number, cancel: Cancellation): undefined | Promise<void> {
    if (this.#inside < this.#limits.places && share.inside < this.#limits.placesPerCaller) {
      this.#give(share);
      return undefined;
    }
    this.#makeRoomInLine(share.key);
    return this.#wait(share, waitMs, cancel);
  }

  /** Passes the slot to the next queued call, or frees it. */
  leave(share: CallerCalls): void {
    this.#inside--;
    share.inside--;
    if (this.#line.size > 0) this.#next()?.go();
  }

  #give(share: CallerCalls): void {
    this.#inside++;
    share.inside++;
    share.turn = ++this.#turns;
  }

  #begin(key: string): CallerCalls {
    if (this.#shares.size >= MAX_IDLE_SHARES) {
      for (const [each, { inside }] of this.#shares) if (inside === 0) this.#shares.delete(each);
    }
    const share: CallerCalls = { key, inside: 0, turn: 0 };
    this.#shares.set(key, share);
    return share;
  }

  #wait(share: CallerCalls, waitMs: number, cancel: Cancellation): Promise<void> {
    return new Promise((resolve, reject) => {
      const leaveLine = () => {
        this.#line.delete(share.key, waiting);
        clearTimeout(timer);
        cancel.remove(listener);
      };
      const refuse = (sentence: string) => {
        leaveLine();
        reject(this.#busy(sentence));
      };
      const waiting: QueuedCall = {
        share,
        go: () => {
          leaveLine();
          this.#give(share);
          resolve();
        },
        refuse: () => refuse(TOO_MANY),
      };
      const listener = {
        cancelled: (reason: unknown): void => {
          leaveLine();
          reject(reason);
        },
      };
      const timer = setTimeout(() => refuse(`had no free slot for the call within ${waitMs} ms`), waitMs);
      this.#line.add(share.key, waiting);
      cancel.add(listener);
    });
  }

  /**
   * A caller with its share of the queue is refused itself; another one replaces a call of the caller with the most.
   */
  #makeRoomInLine(key: string): void {
    const donor = this.#line.donor(key);
    if (donor === undefined) return;
    for (const waiting of donor) {
      if (waiting.share.key === key) break;
      return waiting.refuse();
    }
    throw this.#busy(TOO_MANY);
  }

  /** Of the callers below their limit, the one with the fewest running calls; of equals, the one served longest ago. */
  #next(): QueuedCall | undefined {
    let next: QueuedCall | undefined;
    for (const [first] of this.#line.holders()) {
      if (first === undefined || first.share.inside >= this.#limits.placesPerCaller) continue;
      if (next === undefined || isBefore(first.share, next.share)) next = first;
    }
    return next;
  }

  #busy(sentence: string): ConnectionFailure {
    return new ConnectionFailure(this.#backend, 'busy', sentence, { notRun: true });
  }
}

function isBefore(one: CallerCalls, other: CallerCalls): boolean {
  return one.inside === other.inside ? one.turn < other.turn : one.inside < other.inside;
}

const TOO_MANY = 'has too many calls in flight and waiting';
const MAX_IDLE_SHARES = 1024; // cached entries of callers without calls
