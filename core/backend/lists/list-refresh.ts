import type { ListKind } from '../../mcp/methods.ts';
import { type BackOff, backOffMs } from '../../timing/back-off.ts';
import type { SessionHolder } from '../sessions/session-holder.ts';

const RETRY: BackOff = { firstMs: 500, maxMs: 30_000 };
/** Consecutive failures after which only the next change triggers a reading. */
const MAX_TRIES = 5;

/** What re-reading needs. */
export interface PendingRefresh {
  /** Changes within this time are sent to clients as one notification; reading takes part of it. */
  readonly coalesceMs: number;
  /** Reads these lists through the holder's session; resolves with whether they changed. */
  read(holder: SessionHolder, kinds: ReadonlySet<ListKind>): Promise<boolean>;
  /** A session announced a change that its class does not show. */
  unchanged(holder: SessionHolder, kinds: readonly ListKind[]): void;
  failed(cause: unknown): void;
}

/**
 * The first change is read soon, later ones in sequence, all within the coalescing time, so that clients get one
 * notification for several readings.
 */
const SOON = 0.1;
const IN_TURN = 0.5;

interface Relist {
  holder: SessionHolder;
  kinds: Set<ListKind>;
  /** Which session announced which change and when, until it was read. */
  announced: Map<SessionHolder, Announcement>;
  /** When a reading last found a changed list; all sessions of the class are notified within `coalesceMs`. */
  changedAt: number;
  tries: number;
  isRunning: boolean;
  /** Monotonic clock, milliseconds. */
  readAt: number;
  timer: NodeJS.Timeout | undefined;
}

interface Announcement {
  readonly kinds: Set<ListKind>;
  at: number;
}

/**
 * Reads changed lists again: one reading at a time per capability class; later changes are collected for the next one.
 */
export class ListRefresh {
  readonly #options: PendingRefresh;
  readonly #relists = new Map<string, Relist>();
  #isStopped = false;

  constructor(options: PendingRefresh) {
    this.#options = options;
  }

  /** Lists of the holder's class have changed, as `announcer` announced; by default the holder itself. */
  add(holder: SessionHolder, kinds: readonly ListKind[], announcer = holder): void {
    const known = this.#relists.get(holder.about.capabilityClass);
    const relist = known ?? {
      holder,
      kinds: new Set(),
      announced: new Map(),
      changedAt: Number.NEGATIVE_INFINITY,
      tries: 0,
      isRunning: false,
      readAt: Number.NEGATIVE_INFINITY,
      timer: undefined,
    };
    this.#relists.set(holder.about.capabilityClass, relist);
    relist.holder = holder;
    relist.tries = 0;
    const announced = relist.announced.get(announcer) ?? { kinds: new Set(), at: 0 };
    relist.announced.set(announcer, announced);
    announced.at = performance.now();
    for (const kind of kinds) {
      relist.kinds.add(kind);
      announced.kinds.add(kind);
    }
    this.#schedule(relist, this.#pauseMs(relist));
  }

  stop(): void {
    this.#isStopped = true;
    for (const relist of this.#relists.values()) clearTimeout(relist.timer);
  }

  #pauseMs({ readAt }: Relist): number {
    const inTurnMs = this.#options.coalesceMs * IN_TURN;
    const soonMs = this.#options.coalesceMs * SOON;
    return performance.now() - readAt < inTurnMs ? inTurnMs : soonMs;
  }

  #schedule(relist: Relist, ms: number): void {
    if (relist.timer !== undefined || relist.isRunning || this.#isStopped) return;
    relist.timer = setTimeout(() => {
      relist.timer = undefined;
      void this.#run(relist);
    }, ms);
    relist.timer.unref();
  }

  async #run(relist: Relist): Promise<void> {
    // Without an open session nothing can be read; the lists are read when one is opened.
    if (relist.holder.connection === undefined) return relist.announced.clear();
    const { kinds, announced } = relist;
    relist.kinds = new Set();
    relist.announced = new Map();
    relist.isRunning = true;
    relist.readAt = performance.now();
    try {
      const isOther = await this.#options.read(relist.holder, kinds);
      relist.tries = 0;
      if (isOther) relist.changedAt = performance.now();
      else this.#notifyUnchanged(relist, announced);
    } catch (cause) {
      if (!this.#isStopped) this.#options.failed(cause);
      for (const kind of kinds) relist.kinds.add(kind);
      for (const [holder, one] of announced) if (!relist.announced.has(holder)) relist.announced.set(holder, one);
      relist.tries++;
    }
    relist.isRunning = false;
    if (relist.kinds.size === 0 || relist.tries > MAX_TRIES) return;
    const ms = relist.tries === 0 ? this.#pauseMs(relist) : backOffMs(relist.tries, RETRY);
    this.#schedule(relist, ms);
  }

  /**
   * A session may show another list to its own client, so its announcement is passed on, unless the class was just
   * notified.
   */
  #notifyUnchanged(relist: Relist, announced: ReadonlyMap<SessionHolder, Announcement>): void {
    if (this.#isStopped) return;
    for (const [holder, { kinds, at }] of announced) {
      if (at - relist.changedAt >= this.#options.coalesceMs) this.#options.unchanged(holder, [...kinds]);
    }
  }
}
