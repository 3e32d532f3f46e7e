import type { BackendState, BackendStatus } from '../contract/backend.ts';
import type { Era } from '../contract/era.ts';
import { LATE, within } from '../timing/within.ts';
import {
  type AvailabilityEffect,
  type AvailabilityEvent,
  type AvailabilityState,
  newBackend,
  type ReadLists,
  step,
} from './availability-states.ts';
import { ConnectionFailure, categoryOf, stopped } from './failure.ts';
import { isAlive } from './health.ts';
import type { JsonRpcConnection } from './sessions/json-rpc-connection.ts';

/** What the availability of one backend is made with. */
export interface AvailabilityOptions {
  readonly backend: string;
  /** A local program: its first start may install it. */
  readonly isProgram: boolean;
  /** The era that is configured or was detected. */
  readonly connector: { readonly era: Era | undefined };
  /** The gateway's own session. */
  readonly base: { readonly connection: JsonRpcConnection | undefined };
  now(): number;
  /** One attempt: opens the gateway's own session and reads its lists. @throws whatever prevented that */
  connect(): Promise<ReadLists>;
  /** Does what the attempts and their timer do not. */
  readonly effects: OuterEffects;
}

/** How each effect is run that the availability cannot run itself. */
export type OuterEffects = {
  readonly [K in Exclude<AvailabilityEffect['do'], 'connect' | 'retry' | 'cancel-retry'>]: (
    effect: Extract<AvailabilityEffect, { readonly do: K }>,
  ) => void;
};

/** Whether one backend is available: holds its state, and runs what an event asks for. The rules: `availability-states.ts`. */
export class Availability {
  readonly #options: AvailabilityOptions;
  /** Effects that were not run yet. */
  readonly #effects: AvailabilityEffect[] = [];
  #isRunning = false;
  #state: AvailabilityState;
  #attempt: Promise<void> | undefined;
  #attemptEnded: () => void = () => undefined;
  #retry: NodeJS.Timeout | undefined;

  constructor(options: AvailabilityOptions) {
    this.#options = options;
    this.#state = newBackend(options.now());
  }

  get status(): BackendStatus {
    return this.#state.status;
  }

  get era(): Era | undefined {
    return this.#state.era ?? this.#options.connector.era;
  }

  get isExcluded(): boolean {
    return this.#state.isExcluded;
  }

  /** The running attempt, if any. Never rejects. */
  get attempt(): Promise<void> | undefined {
    return this.#attempt;
  }

  /** The running attempt, unless it repeats a failed one: worth waiting for. */
  get firstAttempt(): Promise<void> | undefined {
    return this.#state.failures === 0 ? this.#attempt : undefined;
  }

  /** Since when a program that has never answered is being started. */
  get startingSinceMs(): number | undefined {
    const { link, hasBeenReady } = this.#state;
    return this.#options.isProgram && !hasBeenReady && link.is === 'connecting' ? link.sinceMs : undefined;
  }

  get facts(): Omit<BackendState, 'backend'> {
    const { status, cause, sinceMs, hello, health } = this.#state;
    const { startingSinceMs } = this;
    return {
      status,
      era: this.era,
      cause: cause === undefined ? undefined : { category: categoryOf(cause), message: messageOf(cause) },
      sinceMs,
      ...(startingSinceMs === undefined ? {} : { startingSinceMs }),
      hello,
      ...(health === undefined ? {} : { health }),
    };
  }

  /** The fault of calls to an unavailable backend. */
  unavailableError(): ConnectionFailure {
    const { cause, health } = this.#state;
    const category = cause instanceof ConnectionFailure ? cause.category : 'closed';
    const why = cause === undefined ? (health?.errorCategory ?? category) : category;
    return new ConnectionFailure(this.#options.backend, category, `is unavailable (${why})`, {
      code: 'BACKEND_UNREACHABLE',
      cause,
    });
  }

  /** Something happened. An event during an effect changes the state at once, and its own effects run afterwards. */
  send(event: AvailabilityEvent): void {
    const [next, effects] = step(this.#state, event, { nowMs: this.#options.now(), chance: Math.random() });
    this.#state = next;
    if (next.link.is === 'connecting') this.#attempt ??= new Promise((resolve) => (this.#attemptEnded = resolve));
    this.#effects.push(...effects);
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      for (let each = this.#effects.shift(); each !== undefined; each = this.#effects.shift()) this.#run(each);
    } finally {
      this.#isRunning = false;
    }
  }

  /** One attempt to connect; concurrent callers share it. Never rejects. */
  discover(): Promise<void> {
    this.send({ is: 'wanted' });
    return this.#attempt ?? Promise.resolve();
  }

  /** Connects again with a new session, unless an attempt is running. Never rejects. */
  renew(): Promise<void> {
    this.send({ is: 'renewed' });
    return this.#attempt ?? Promise.resolve();
  }

  /**
   * Checks that the backend responds: over the gateway's own session if it is open, otherwise by connecting. After a
   * failed probe the next probe opens a new connection: perhaps only the old session is broken.
   * @throws ConnectionFailure · AUTH_STRATEGY_FAILED; an error response that shows that the backend works is a success
   */
  async probe(timeoutMs: number, signal: AbortSignal): Promise<void> {
    const { connection } = this.#options.base;
    const { hasFailedProbe, status } = this.#state;
    this.send({ is: 'probed' });
    try {
      if (status === 'ready' && connection !== undefined && this.#attempt === undefined) {
        if (!hasFailedProbe && (await isAlive(connection, timeoutMs, signal))) return this.send({ is: 'answered' });
        this.send({ is: 'renewed' });
      }
      await this.#waitUntilReady(timeoutMs, signal);
      this.send({ is: 'answered' });
    } catch (cause) {
      throw this.#isRemoved ? stopped(this.#options.backend) : cause;
    }
  }

  get #isRemoved(): boolean {
    return this.#state.link.is === 'removed';
  }

  async #waitUntilReady(timeoutMs: number, signal: AbortSignal): Promise<void> {
    const { backend, now } = this.#options;
    const { restsUntilMs, cause } = this.#state;
    if (now() < restsUntilMs) throw cause ?? this.unavailableError();
    const late = () =>
      this.startingSinceMs === undefined
        ? new ConnectionFailure(backend, 'timeout', `did not become available within ${timeoutMs} ms`)
        : new ConnectionFailure(backend, 'starting', 'is still starting');
    if ((await within(timeoutMs, signal, this.discover())) === LATE) throw late();
    if (this.#isRemoved || this.#state.status !== 'ready') throw this.#state.cause ?? this.unavailableError();
  }

  #run(effect: AvailabilityEffect): void {
    if (effect.do === 'connect') return void this.#connect();
    if (effect.do !== 'retry' && effect.do !== 'cancel-retry') {
      return (this.#options.effects[effect.do] as (effect: AvailabilityEffect) => void)(effect);
    }
    clearTimeout(this.#retry);
    if (effect.do === 'cancel-retry') return;
    this.#retry = setTimeout(() => this.send({ is: 'wanted' }), effect.afterMs);
    this.#retry.unref();
  }

  async #connect(): Promise<void> {
    try {
      this.send({ is: 'connected', read: await this.#options.connect() });
    } catch (cause) {
      this.send({ is: 'failed', cause });
    } finally {
      this.#attempt = undefined;
      this.send({ is: 'ended' });
      this.#attemptEnded();
    }
  }
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
