import type { LinkOwner } from '../contract/call.ts';
import type { Cancellation } from '../contract/cancellation.ts';
import type { Conversation } from './conversation.ts';
import { LinkFailure } from './failure.ts';

/** A call in quick succession rather waits for the one before it than starts a program. */
const PATIENCE_MS = 100;

/** What giving out sessions needs. */
export interface OwnSessionsOptions {
  readonly workload: string;
  /** Sessions of one owner that calls may hold at once; more calls wait. */
  readonly perOwner: number;
  /** Whether the owner's session of this number is open and nothing runs in it. */
  isIdle(owner: LinkOwner, number: number): boolean;
  /** The link of the owner's session of this number. @throws GatewayFault */
  link(owner: LinkOwner, number: number): Conversation | Promise<Conversation>;
  /** Calls of an owner wait for one another, because it may hold no more sessions. */
  waiting(owner: LinkOwner): void;
}

/** A session that one call holds alone. */
export interface OwnSession {
  /** Its number among those of the owner; 0 is the one that calls share. */
  readonly number: number;
  readonly link: Conversation;
  /** Gives it to the next call. Once. */
  release(): void;
}

/** The sessions of one owner that are held, and the calls that wait for one, in order. */
interface Holding {
  readonly held: Set<number>;
  readonly line: Set<(number: number) => void>;
  /** Calls that hold or want one; with the last of them this is forgotten. */
  calls: number;
}

/**
 * Gives a call a session of its backend alone, for transports that do not say which call a question or a log message
 * belongs to. Sessions are kept and used again; a call prefers an open one, and the first.
 */
export class OwnSessions {
  readonly #options: OwnSessionsOptions;
  readonly #holdings = new Map<string, Holding>();

  constructor(options: OwnSessionsOptions) {
    this.#options = options;
  }

  /** Whether a call holds the session that the owner's other calls would share. */
  isSharedHeld(owner: LinkOwner): boolean {
    return this.#holdings.get(owner.key)?.held.has(0) === true;
  }

  /**
   * A session for one call, opened when none is free.
   * @throws GatewayFault, BACKEND_BUSY when none was free within `waitMs` · the reason of `cancel`
   */
  async take(owner: LinkOwner, waitMs: number, cancel: Cancellation): Promise<OwnSession> {
    const holding = this.#holdings.get(owner.key) ?? { held: new Set(), line: new Set(), calls: 0 };
    this.#holdings.set(owner.key, holding);
    holding.calls++;
    let number: number | undefined;
    try {
      number = this.#free(owner, holding) ?? (await this.#wait(owner, holding, waitMs, cancel));
      return this.#held(owner, holding, number, await this.#options.link(owner, number));
    } catch (cause) {
      this.#leave(owner, holding, number);
      throw cause;
    }
  }

  #held(owner: LinkOwner, holding: Holding, number: number, link: Conversation): OwnSession {
    return { number, link, release: () => this.#leave(owner, holding, number) };
  }

  /** The first session that is open and free; the shared one need not be open. */
  #free(owner: LinkOwner, { held }: Holding): number | undefined {
    for (let number = 0; number < this.#options.perOwner; number++) {
      if (held.has(number) || !this.#options.isIdle(owner, number)) continue;
      held.add(number);
      return number;
    }
    return undefined;
  }

  /** Waits a moment for one to become free, then takes a new one, or waits on when there may be no more. */
  async #wait(owner: LinkOwner, holding: Holding, waitMs: number, cancel: Cancellation): Promise<number> {
    const soon = await this.#inLine(holding, Math.min(PATIENCE_MS, waitMs), cancel);
    if (soon !== undefined) return soon;
    const { perOwner, workload, waiting } = this.#options;
    for (let number = 0; number < perOwner; number++) {
      // the shared one, when it is not held, has other calls in it
      if (holding.held.has(number) || (number === 0 && perOwner > 1)) continue;
      holding.held.add(number);
      return number;
    }
    waiting(owner);
    const later = await this.#inLine(holding, waitMs, cancel);
    if (later !== undefined) return later;
    const sentence = `had none of its ${perOwner} sessions for this caller free within ${waitMs} ms`;
    throw new LinkFailure('BACKEND_BUSY', workload, sentence, { category: 'busy', notRun: true });
  }

  /** The next session that is given back; `undefined` after the time. @throws the reason of `cancel` */
  #inLine({ line }: Holding, ms: number, cancel: Cancellation): Promise<number | undefined> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        line.delete(go);
        clearTimeout(timer);
        cancel.remove(listener);
      };
      const go = (number: number) => {
        leave();
        resolve(number);
      };
      const listener = {
        cancelled: (reason: unknown): void => {
          leave();
          reject(reason);
        },
      };
      const timer = setTimeout(() => {
        leave();
        resolve(undefined);
      }, ms);
      line.add(go);
      cancel.add(listener);
    });
  }

  #leave(owner: LinkOwner, holding: Holding, number: number | undefined): void {
    if (number !== undefined) passOn(holding, number);
    if (--holding.calls === 0) this.#holdings.delete(owner.key);
  }
}

/** To the first in line at once, so that nobody who comes later is served before. */
function passOn({ held, line }: Holding, number: number): void {
  for (const go of line) return go(number);
  held.delete(number);
}
