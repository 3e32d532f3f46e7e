import type { Cancellation } from '../../contract/cancellation.ts';
import type { SessionOwner } from '../../contract/client-context.ts';
import { LinkFailure } from '../failure.ts';
import type { JsonRpcConnection } from './json-rpc-connection.ts';

/** A call in quick succession rather waits for the one before it than starts a program. */
const PATIENCE_MS = 100;

/** What giving out sessions needs. */
export interface OwnSessionsOptions {
  readonly backend: string;
  /** Sessions of one caller's share that calls may hold at once; more calls wait. */
  readonly perCaller: number;
  /** Whether the owner's session of this number is open and nothing runs in it. */
  isIdle(owner: SessionOwner, number: number): boolean;
  /** The link of the owner's session of this number. @throws GatewayFault */
  link(owner: SessionOwner, number: number): JsonRpcConnection | Promise<JsonRpcConnection>;
  /** Calls of a caller wait for one another, because it may hold no more sessions. */
  waiting(owner: SessionOwner): void;
}

/** A session that one call holds alone. */
export interface OwnSession {
  /** Whose it is. */
  readonly owner: SessionOwner;
  /** Its number among those of the owner; 0 is the one that calls share. */
  readonly number: number;
  readonly link: JsonRpcConnection;
  /** Gives it to the next call. Once. */
  release(): void;
}

/** The sessions that calls of one caller hold, and its calls that wait for one, in order. */
interface Holding {
  /** Whose the shared session is. */
  readonly shared: SessionOwner;
  /** Whose the others are. */
  readonly own: SessionOwner;
  readonly held: Set<number>;
  readonly line: Set<(number: number) => void>;
  /** Calls that hold or want one; with the last of them this is forgotten. */
  calls: number;
}

/**
 * Gives a call a session of its backend alone, for transports that do not say which call a question or a log message
 * belongs to. Sessions are kept and used again; a call prefers an open one, and the first.
 *
 * Callers without identity have one owner together. Only its first session is for all of them: the others are counted
 * and waited for by share, so that nobody waits for an answer that a stranger owes.
 */
export class OwnSessions {
  readonly #options: OwnSessionsOptions;
  readonly #holdings = new Map<string, Holding>();
  /** Owners whose shared session a call holds. */
  readonly #sharedHeld = new Set<string>();

  constructor(options: OwnSessionsOptions) {
    this.#options = options;
  }

  /** Whether a call holds the session that the owner's other calls would share. */
  isSharedHeld(owner: SessionOwner): boolean {
    return this.#sharedHeld.has(owner.key);
  }

  /**
   * A session for one call that counts against `share`, opened when none is free.
   * @throws GatewayFault, BACKEND_BUSY when none was free within `waitMs` · the reason of `cancel`
   */
  async take(owner: SessionOwner, share: string, waitMs: number, cancel: Cancellation): Promise<OwnSession> {
    const own = ownerOfShare(owner, share);
    const holding = this.#holdings.get(own.key) ?? { shared: owner, own, held: new Set(), line: new Set(), calls: 0 };
    this.#holdings.set(own.key, holding);
    holding.calls++;
    let number: number | undefined;
    try {
      number = this.#free(holding) ?? (await this.#wait(holding, waitMs, cancel));
      const by = number === 0 ? owner : own;
      return this.#session(holding, by, number, await this.#options.link(by, number));
    } catch (cause) {
      this.#leave(holding, number);
      throw cause;
    }
  }

  #session(holding: Holding, owner: SessionOwner, number: number, link: JsonRpcConnection): OwnSession {
    return { owner, number, link, release: () => this.#leave(holding, number) };
  }

  /** The first session that is open and free; the shared one need not be open. */
  #free(holding: Holding): number | undefined {
    const { shared, own, held } = holding;
    const { perCaller, isIdle } = this.#options;
    if (held.size >= perCaller) return undefined;
    if (!this.#sharedHeld.has(shared.key) && isIdle(shared, 0)) return this.#hold(holding, 0);
    for (let number = 1; number <= perCaller; number++) {
      if (!held.has(number) && isIdle(own, number)) return this.#hold(holding, number);
    }
    return undefined;
  }

  #hold({ shared, held }: Holding, number: number): number {
    held.add(number);
    if (number === 0) this.#sharedHeld.add(shared.key);
    return number;
  }

  /** Waits a moment for one to become free, then takes a new one, or waits on when there may be no more. */
  async #wait(holding: Holding, waitMs: number, cancel: Cancellation): Promise<number> {
    const soon = await this.#inLine(holding, Math.min(PATIENCE_MS, waitMs), cancel);
    if (soon !== undefined) return soon;
    const { perCaller, backend, waiting } = this.#options;
    const { held, own } = holding;
    // not the shared one: when it is not held, it has other calls in it
    for (let number = 1; number <= perCaller && held.size < perCaller; number++) {
      if (!held.has(number)) return this.#hold(holding, number);
    }
    waiting(own);
    const later = await this.#inLine(holding, waitMs, cancel);
    if (later !== undefined) return later;
    const sentence = `had none of its ${perCaller} sessions for this caller free within ${waitMs} ms`;
    throw new LinkFailure('BACKEND_BUSY', backend, sentence, { category: 'busy', notRun: true });
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

  #leave(holding: Holding, number: number | undefined): void {
    if (number !== undefined) this.#passOn(holding, number);
    if (--holding.calls === 0) this.#holdings.delete(holding.own.key);
  }

  /** To the first in line at once, so that nobody who comes later is served before. */
  #passOn({ shared, held, line }: Holding, number: number): void {
    for (const go of line) return go(number);
    held.delete(number);
    if (number === 0) this.#sharedHeld.delete(shared.key);
  }
}

/** A caller with an identity is an owner already; of the others each network is one for sessions of its own. */
function ownerOfShare(owner: SessionOwner, share: string): SessionOwner {
  const { caller, capabilities, capabilityClass, listClass, sink } = owner;
  if (share === (owner.share ?? caller.key)) return owner;
  const rest = { listClass, ...(sink === undefined ? {} : { sink }) };
  return { key: `${owner.key}@${share}`, caller, share, capabilities, capabilityClass, ...rest };
}
