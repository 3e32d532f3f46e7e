import type { Cancellation } from '../contract/cancellation.ts';
import { Shares } from '../mcp/shares.ts';
import { LinkFailure } from './failure.ts';

/** How many calls one backend takes. */
export interface GateLimits {
  /** At once, of all callers and of one. */
  readonly places: number;
  readonly placesPerCaller: number;
  /** In line, of all callers and of one. */
  readonly line: number;
  readonly linePerCaller: number;
}

/** What one caller has at a gate. */
export interface GateShare {
  readonly key: string;
  inside: number;
  /** The place it was given last, counted over all callers. */
  turn: number;
}

/** A call in line. */
interface Waiting {
  readonly share: GateShare;
  go(): void;
  refuse(): void;
}

/**
 * Lets a bounded number of calls through to one backend; more wait in line, and even more are refused.
 *
 * Callers in line take turns: a place goes to the one that has the fewest. No caller takes all places, and none fills the
 * line: when it is full, the caller with the most in it gives up its oldest for a caller with less.
 */
export class ConcurrencyLimit {
  readonly #backend: string;
  readonly #limits: GateLimits;
  readonly #shares = new Map<string, GateShare>();
  readonly #line: Shares<Waiting>;
  #inside = 0;
  #turns = 0;

  constructor(backend: string, limits: GateLimits) {
    this.#backend = backend;
    this.#limits = limits;
    this.#line = new Shares(limits.line, limits.linePerCaller);
  }

  get inside(): number {
    return this.#inside;
  }

  /** What a caller has here; to be used at once. */
  shareOf(key: string): GateShare {
    return this.#shares.get(key) ?? this.#begin(key);
  }

  /**
   * Takes a place: `undefined` when there is one at once, else a promise of it. Every entry needs one `leave`.
   * @throws LinkFailure BACKEND_BUSY when the line is full; the promise also after `waitMs`, or with the signal's reason
   */
  enter(share: GateShare, waitMs: number, cancel: Cancellation): undefined | Promise<void> {
    if (this.#inside < this.#limits.places && share.inside < this.#limits.placesPerCaller) {
      this.#give(share);
      return undefined;
    }
    this.#makeRoomInLine(share.key);
    return this.#wait(share, waitMs, cancel);
  }

  /** Gives the place to the next in line, or back. */
  leave(share: GateShare): void {
    this.#inside--;
    share.inside--;
    if (this.#line.size > 0) this.#next()?.go();
  }

  #give(share: GateShare): void {
    this.#inside++;
    share.inside++;
    share.turn = ++this.#turns;
  }

  #begin(key: string): GateShare {
    if (this.#shares.size >= MAX_IDLE_SHARES) {
      for (const [each, { inside }] of this.#shares) if (inside === 0) this.#shares.delete(each);
    }
    const share: GateShare = { key, inside: 0, turn: 0 };
    this.#shares.set(key, share);
    return share;
  }

  #wait(share: GateShare, waitMs: number, cancel: Cancellation): Promise<void> {
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
      const waiting: Waiting = {
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
      const timer = setTimeout(() => refuse(`had no place for the call within ${waitMs} ms`), waitMs);
      this.#line.add(share.key, waiting);
      cancel.add(listener);
    });
  }

  /** A caller that has filled its part is refused itself; one that has not takes the place of who has the most. */
  #makeRoomInLine(key: string): void {
    const donor = this.#line.donor(key);
    if (donor === undefined) return;
    for (const waiting of donor) {
      if (waiting.share.key === key) break;
      return waiting.refuse();
    }
    throw this.#busy(TOO_MANY);
  }

  /** Of the callers that may take a place, the one that has the fewest; of equals, the one that was served longest ago. */
  #next(): Waiting | undefined {
    let next: Waiting | undefined;
    for (const [first] of this.#line.holders()) {
      if (first === undefined || first.share.inside >= this.#limits.placesPerCaller) continue;
      if (next === undefined || isBefore(first.share, next.share)) next = first;
    }
    return next;
  }

  #busy(sentence: string): LinkFailure {
    return new LinkFailure('BACKEND_BUSY', this.#backend, sentence, { category: 'busy', notRun: true });
  }
}

function isBefore(one: GateShare, other: GateShare): boolean {
  return one.inside === other.inside ? one.turn < other.turn : one.inside < other.inside;
}

const TOO_MANY = 'has too many calls in flight and waiting';
const MAX_IDLE_SHARES = 1024; // callers whose entry is kept; those with calls always are
