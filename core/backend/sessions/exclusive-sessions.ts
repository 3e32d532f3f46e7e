import type { Backend } from '../../contract/backend.ts';
import type { Cancellation } from '../../contract/cancellation.ts';
import type { SessionOwner } from '../../contract/client-context.ts';
import type { Log } from '../../extension/plugin.ts';
import type { Limits } from '../../limits.ts';
import { ConnectionFailure } from '../failure.ts';
import type { JsonRpcConnection } from './json-rpc-connection.ts';
import type { SessionPool } from './session-pool.ts';

/** A call waits this long for the previous one before it opens another session. */
const REUSE_WAIT_MS = 100;

/** The sessions of owners, for what uses them. */
export interface OwnerSessions {
  readonly backend: Backend;
  readonly pool: SessionPool;
  readonly limits: Limits;
  readonly log: Log;
  /** The owner's session of this number. @throws GatewayFault */
  connection(owner: SessionOwner, number?: number): JsonRpcConnection | Promise<JsonRpcConnection>;
}

/** A session that one call uses exclusively. */
export interface ExclusiveSession {
  /** Owner of the session. */
  readonly owner: SessionOwner;
  /** Its number among the sessions of the owner; 0 is the shared one. */
  readonly number: number;
  readonly connection: JsonRpcConnection;
  /** Releases it for the next call; call once. */
  release(): void;
}

/** The sessions that calls of one caller use, and its waiting calls, in order. */
interface ShareSessions {
  /** Owner of the shared session. */
  readonly sharedOwner: SessionOwner;
  /** Owner of the other sessions. */
  readonly privateOwner: SessionOwner;
  readonly numbersInUse: Set<number>;
  readonly queue: Set<(number: number) => void>;
  /** Number of calls that use or wait for a session; at 0 the entry is deleted. */
  calls: number;
}

/**
 * Gives a call exclusive use of a session, for transports that do not say which call a request or a log message belongs
 * to. Sessions are reused; a call prefers an open one, and the first.
 *
 * Anonymous callers share one owner. Only its first session is for all of them: the others are limited and queued by
 * share, so that no caller waits until the user of another caller has answered.
 */
export class ExclusiveSessions {
  readonly #options: OwnerSessions;
  /** Limit of exclusive sessions of one share; more calls wait. */
  readonly #perCaller: number;
  readonly #holdings = new Map<string, ShareSessions>();
  /** Owners whose shared session is in exclusive use. */
  readonly #sharedHeld = new Set<string>();

  constructor(options: OwnerSessions) {
    this.#options = options;
    this.#perCaller = options.limits.sessionsPerAskedCaller;
  }

  /** Whether a call has exclusive use of the session that the owner's other calls would share. */
  isSharedHeld(owner: SessionOwner): boolean {
    return this.#sharedHeld.has(owner.key);
  }

  /**
   * A session for one call of the share `share`, opened when none is free.
   * @throws GatewayFault, BACKEND_BUSY when none was free within `waitMs` · the reason of `cancel`
   */
  async take(owner: SessionOwner, share: string, waitMs: number, cancel: Cancellation): Promise<ExclusiveSession> {
    const privateOwner = ownerOfShare(owner, share);
    const holding = this.#holdings.get(privateOwner.key) ?? {
      sharedOwner: owner,
      privateOwner,
      numbersInUse: new Set(),
      queue: new Set(),
      calls: 0,
    };
    this.#holdings.set(privateOwner.key, holding);
    holding.calls++;
    let number: number | undefined;
    try {
      number = this.#free(holding) ?? (await this.#wait(holding, waitMs, cancel));
      const sessionOwner = number === 0 ? owner : privateOwner;
      return this.#session(holding, sessionOwner, number, await this.#options.connection(sessionOwner, number));
    } catch (cause) {
      this.#leave(holding, number);
      throw cause;
    }
  }

  #session(
    holding: ShareSessions,
    owner: SessionOwner,
    number: number,
    connection: JsonRpcConnection,
  ): ExclusiveSession {
    return { owner, number, connection, release: () => this.#leave(holding, number) };
  }

  /** The first session that is open and free. */
  #free(holding: ShareSessions): number | undefined {
    const { sharedOwner, privateOwner, numbersInUse } = holding;
    if (numbersInUse.size >= this.#perCaller) return undefined;
    if (!this.#sharedHeld.has(sharedOwner.key) && this.#isIdle(sharedOwner, 0)) return this.#hold(holding, 0);
    for (let number = 1; number <= this.#perCaller; number++) {
      if (!numbersInUse.has(number) && this.#isIdle(privateOwner, number)) return this.#hold(holding, number);
    }
    return undefined;
  }

  /** Whether the owner's session of this number is open and idle; the shared one need not be open. */
  #isIdle(owner: SessionOwner, number: number): boolean {
    const connection = this.#options.pool.find(owner, number)?.connection;
    return connection === undefined ? number === 0 : connection.inFlight === 0;
  }

  #hold({ sharedOwner, numbersInUse }: ShareSessions, number: number): number {
    numbersInUse.add(number);
    if (number === 0) this.#sharedHeld.add(sharedOwner.key);
    return number;
  }

  /** Waits a short time for a free session. Then opens a new one, or continues to wait when the limit is reached. */
  async #wait(holding: ShareSessions, waitMs: number, cancel: Cancellation): Promise<number> {
    const soon = await this.#waitInQueue(holding, Math.min(REUSE_WAIT_MS, waitMs), cancel);
    if (soon !== undefined) return soon;
    const { backend, log } = this.#options;
    const { numbersInUse } = holding;
    // not the shared one: when it is not in exclusive use, other calls run in it
    for (let number = 1; number <= this.#perCaller && numbersInUse.size < this.#perCaller; number++) {
      if (!numbersInUse.has(number)) return this.#hold(holding, number);
    }
    log.info('calls of one caller wait: each needs a session of its own', { backend: backend.name });
    const later = await this.#waitInQueue(holding, waitMs, cancel);
    if (later !== undefined) return later;
    const sentence = `had none of its ${this.#perCaller} sessions for this caller free within ${waitMs} ms`;
    throw new ConnectionFailure(backend.name, 'busy', sentence, { notRun: true });
  }

  /** The next released session; `undefined` after the time. @throws the reason of `cancel` */
  #waitInQueue({ queue }: ShareSessions, ms: number, cancel: Cancellation): Promise<number | undefined> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        queue.delete(assign);
        clearTimeout(timer);
        cancel.remove(listener);
      };
      const assign = (number: number) => {
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
      queue.add(assign);
      cancel.add(listener);
    });
  }

  #leave(holding: ShareSessions, number: number | undefined): void {
    if (number !== undefined) this.#passOn(holding, number);
    if (--holding.calls === 0) this.#holdings.delete(holding.privateOwner.key);
  }

  /** Passes it to the first waiting call at once, so that no later call is served before. */
  #passOn({ sharedOwner, numbersInUse, queue }: ShareSessions, number: number): void {
    for (const assign of queue) return assign(number);
    numbersInUse.delete(number);
    if (number === 0) this.#sharedHeld.delete(sharedOwner.key);
  }
}

/** A caller with an identity is an owner already; for anonymous ones each network is an owner of exclusive sessions. */
export function ownerOfShare(owner: SessionOwner, share: string): SessionOwner {
  const { caller, capabilities, capabilityClass, listClass, sink } = owner;
  if (share === (owner.share ?? caller.key)) return owner;
  const rest = { listClass, ...(sink === undefined ? {} : { sink }) };
  return { key: `${owner.key}@${share}`, caller, share, capabilities, capabilityClass, ...rest };
}

/** Where a call that named a log level runs. */
export interface LoggingPlace {
  /** `undefined`: the shared session. */
  readonly connection: JsonRpcConnection | undefined;
  /** Whether the backend may be told the level. */
  readonly isHeard: boolean;
  /** Call once, when the call has ended. */
  release(): void;
}

/**
 * Decides where calls that named a log level run at a stateless program, whose messages do not say which call they belong
 * to: in the shared session together with calls of the same caller only, else in a session of the caller.
 */
export class LoggingCalls {
  readonly #options: OwnerSessions;
  /** The caller whose calls are in the shared session. */
  #share: string | undefined;
  #calls = 0;
  readonly #leave = (): void => {
    this.#calls--;
  };

  constructor(options: OwnerSessions) {
    this.#options = options;
  }

  /** @throws GatewayFault when the caller's session cannot be opened for another reason than the limit */
  enter(owner: SessionOwner, share: string): LoggingPlace | Promise<LoggingPlace> {
    if (this.#calls > 0 && this.#share !== share) return this.#beside(owner, share);
    this.#share = share;
    this.#calls++;
    return { connection: undefined, isHeard: true, release: this.#leave };
  }

  async #beside(owner: SessionOwner, share: string): Promise<LoggingPlace> {
    try {
      const connection = await this.#options.connection(ownerOfShare(owner, share), OWN);
      return { connection, isHeard: true, release: nothing };
    } catch (cause) {
      if (!(cause instanceof ConnectionFailure) || cause.category !== 'busy') throw cause;
      const { backend, log } = this.#options;
      log.info('log messages of a call are not requested: no further program can run', { backend: backend.name });
      return { connection: undefined, isHeard: false, release: nothing };
    }
  }
}

/** Number of the session of a caller beside the shared one. */
const OWN = 1;

function nothing(): void {}
