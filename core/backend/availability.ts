import type { BackendHealth, BackendHello, BackendState, BackendStatus } from '../contract/backend.ts';
import type { Era } from '../contract/era.ts';
import { type BackOff, backOffMs } from '../timing/back-off.ts';
import { LATE, within } from '../timing/within.ts';
import { ConnectionFailure, categoryOf, stopped } from './failure.ts';
import { isAlive } from './health/ping.ts';
import type { ReadLists } from './lists/list-reader.ts';
import type { Connector } from './sessions/connector.ts';
import type { SessionHolder } from './sessions/session-holder.ts';

const RETRY: BackOff = { firstMs: 500, maxMs: 30_000 };
/** A program that cannot be started, such as a package that does not exist, seldom appears by itself. */
const RETRY_ABSENT: BackOff = { firstMs: 10_000, maxMs: 600_000 };
/** A connection that ended after this time is reopened at once; one that ended sooner may be part of a crash loop. */
const STABLE_MS = 10_000;
/** `suspect()` does nothing for this long after a successful connection. */
const SUSPECT_IGNORED_MS = 1_000;

/** Callbacks and settings of the availability check. */
export interface AvailabilityOptions {
  readonly backend: string;
  readonly connector: Connector;
  /** The gateway's own session. */
  readonly base: SessionHolder;
  /** A local program: its first start may install it. */
  readonly isProgram: boolean;
  /** Aborts when the backend is removed. */
  readonly signal: AbortSignal;
  now(): number;
  /** One attempt: opens the gateway's own session and reads its lists. @throws whatever prevented that */
  connectAndReadLists(): Promise<ReadLists>;
  /** Called before the status becomes ready: what was known about the backend is outdated. */
  beforeReady(connection: ReadLists['connection']): void;
  /** The backend is ready. */
  becameReady(lists: ReadLists): void;
  /** Calls can be sent again. */
  callsResumed(): void;
  /** No calls can be sent any more. */
  callsStopped(): void;
  /** Notifications on the gateway's own session are not received any more. */
  notificationsLost(): void;
  /** The status or the failure category changed. */
  changed(): void;
  note(what: string, cause: unknown): void;
}

/** Whether one backend is available: connects, notices a lost backend, reconnects, and applies a monitor's health. */
export class Availability {
  readonly #options: AvailabilityOptions;
  #status: BackendStatus = 'unknown';
  #cause: unknown;
  #sinceMs: number;
  #hello: BackendHello | undefined;
  #era: Era | undefined;
  #health: BackendHealth | undefined;
  /** Set by a monitor: no calls are sent, and the lists are withdrawn after the grace period. */
  #isExcluded = false;
  #hasFailedProbe = false;
  #attempt: Promise<void> | undefined;
  #attemptSinceMs = 0;
  #hasBeenReady = false;
  #failures = 0;
  #shortConnections = 0;
  #readyAtMs = 0;
  #retry: NodeJS.Timeout | undefined;
  /** Epoch milliseconds before which a program that could not be started is not tried again. */
  #restsUntilMs = 0;

  constructor(options: AvailabilityOptions) {
    this.#options = options;
    this.#sinceMs = options.now();
  }

  get status(): BackendStatus {
    return this.#status;
  }

  get era(): Era | undefined {
    return this.#era ?? this.#options.connector.era;
  }

  get isExcluded(): boolean {
    return this.#isExcluded;
  }

  /** The running attempt, if any. Never rejects. */
  get attempt(): Promise<void> | undefined {
    return this.#attempt;
  }

  /** The running attempt, unless it repeats a failed one: worth waiting for. */
  get firstAttempt(): Promise<void> | undefined {
    return this.#failures === 0 ? this.#attempt : undefined;
  }

  /** Since when a program that has never answered is being started. */
  get startingSinceMs(): number | undefined {
    const isFirst = this.#options.isProgram && !this.#hasBeenReady && this.#attempt !== undefined;
    return isFirst ? this.#attemptSinceMs : undefined;
  }

  get facts(): Omit<BackendState, 'backend'> {
    const { startingSinceMs } = this;
    const cause = this.#cause;
    return {
      status: this.#status,
      era: this.era,
      cause: cause === undefined ? undefined : { category: categoryOf(cause), message: messageOf(cause) },
      sinceMs: this.#sinceMs,
      ...(startingSinceMs === undefined ? {} : { startingSinceMs }),
      hello: this.#hello,
      ...(this.#health === undefined ? {} : { health: this.#health }),
    };
  }

  /** The fault of calls to an unavailable backend. */
  unavailableError(): ConnectionFailure {
    const category = this.#cause instanceof ConnectionFailure ? this.#cause.category : 'closed';
    const facts = { category, cause: this.#cause } as const;
    const why = this.#cause === undefined ? (this.#health?.errorCategory ?? category) : category;
    return new ConnectionFailure('BACKEND_UNREACHABLE', this.#options.backend, `is unavailable (${why})`, facts);
  }

  /** One attempt to connect; concurrent callers share it. Never rejects. */
  discover(): Promise<void> {
    clearTimeout(this.#retry);
    if (this.#attempt !== undefined) return this.#attempt;
    this.#attemptSinceMs = this.#options.now();
    this.#attempt = this.#options
      .connectAndReadLists()
      .then((lists) => this.#ready(lists))
      .catch((cause: unknown) => this.#failed(cause))
      .finally(() => {
        this.#attempt = undefined;
      });
    return this.#attempt;
  }

  /** Connects again with a new session, unless an attempt is running. Never rejects. */
  renew(): Promise<void> {
    if (this.#attempt !== undefined) return this.#attempt;
    this.#options.notificationsLost();
    this.#options.base.renew();
    return this.discover();
  }

  /** A failed request suggests that the backend is down: connects again, unless an attempt is running. */
  suspect(): void {
    if (this.#status !== 'ready' || this.#attempt !== undefined) return;
    if (this.#options.now() - this.#readyAtMs < SUSPECT_IGNORED_MS) return;
    void this.renew();
  }

  /** A session of an owner was opened in this era before the gateway's own session. */
  noteEra(era: Era): void {
    this.#era ??= era;
  }

  /**
   * Checks that the backend responds: over the gateway's own session if it is open, otherwise by connecting. After a
   * failed probe the next probe opens a new connection: perhaps only the old session is broken.
   * @throws ConnectionFailure · AUTH_STRATEGY_FAILED; an error response that shows that the backend works is a success
   */
  async probe(timeoutMs: number, signal: AbortSignal): Promise<void> {
    const { connection } = this.#options.base;
    const hasFailedProbe = this.#hasFailedProbe;
    this.#hasFailedProbe = true;
    try {
      if (this.#status === 'ready' && connection !== undefined && this.#attempt === undefined) {
        if (!hasFailedProbe && (await isAlive(connection, timeoutMs, signal))) {
          this.#hasFailedProbe = false;
          return;
        }
        void this.renew();
      }
      await this.#waitUntilReady(timeoutMs, signal);
      this.#hasFailedProbe = false;
    } catch (cause) {
      throw this.#options.signal.aborted ? stopped(this.#options.backend) : cause;
    }
  }

  /** Applies the health that a monitor reports. */
  applyHealth(health: BackendHealth): void {
    const wasExcluded = this.#isExcluded;
    this.#health = health;
    this.#isExcluded = health.status === 'unhealthy';
    if (this.#isExcluded === wasExcluded || this.#status !== 'ready') return;
    if (wasExcluded) this.#options.callsResumed();
    else this.#options.callsStopped();
  }

  /** The gateway's own session ended. */
  lost(cause: ConnectionFailure): void {
    if (this.#status !== 'ready') return;
    const livedMs = this.#options.now() - this.#readyAtMs;
    this.#shortConnections = livedMs < STABLE_MS ? this.#shortConnections + 1 : 0;
    this.#options.notificationsLost();
    if (this.#shortConnections > 1) return this.#becomeUnavailable(cause, this.#shortConnections - 1);
    this.#options.note('backend lost; reconnecting', cause);
    void this.discover();
  }

  stop(): void {
    clearTimeout(this.#retry);
  }

  async #waitUntilReady(timeoutMs: number, signal: AbortSignal): Promise<void> {
    const { backend, now } = this.#options;
    if (now() < this.#restsUntilMs) throw this.#cause ?? this.unavailableError();
    const late = () =>
      this.startingSinceMs === undefined
        ? new ConnectionFailure('BACKEND_TIMEOUT', backend, `did not become available within ${timeoutMs} ms`, {
            category: 'timeout',
          })
        : new ConnectionFailure('BACKEND_STARTING', backend, 'is still starting', { category: 'starting' });
    if ((await within(timeoutMs, signal, this.discover())) === LATE) throw late();
    this.#options.signal.throwIfAborted();
    if (this.#status !== 'ready') throw this.#cause ?? this.unavailableError();
  }

  #ready(lists: ReadLists): void {
    const { connection } = lists;
    this.#failures = 0;
    this.#hasBeenReady = true;
    this.#hasFailedProbe = false;
    this.#readyAtMs = this.#options.now();
    this.#hello = connection.hello;
    this.#era = connection.era;
    this.#options.beforeReady(connection);
    this.#enter('ready', undefined);
    this.#options.becameReady(lists);
  }

  #failed(cause: unknown): void {
    if (this.#options.signal.aborted) return;
    this.#failures++;
    this.#becomeUnavailable(cause, this.#failures);
  }

  #becomeUnavailable(cause: unknown, attempt: number): void {
    const { base, connector, notificationsLost, callsStopped, note } = this.#options;
    notificationsLost();
    base.renew();
    const unauthenticated = categoryOf(cause) === 'unauthenticated';
    if (this.#status === 'ready' || this.#status === 'unknown') note('backend is unavailable', cause);
    const wasAvailable = this.#status === 'ready' || (this.#status === 'unauthenticated' && !unauthenticated);
    if (wasAvailable && !this.#isExcluded) callsStopped();
    if (wasAvailable) connector.closePooledConnections();
    this.#enter(unauthenticated ? 'unauthenticated' : 'unavailable', cause);
    clearTimeout(this.#retry);
    const isAbsent = ABSENT.has(categoryOf(cause));
    const pauseMs = backOffMs(attempt, isAbsent ? RETRY_ABSENT : RETRY);
    this.#restsUntilMs = isAbsent ? this.#options.now() + pauseMs : 0;
    this.#retry = setTimeout(() => void this.discover(), pauseMs);
    this.#retry.unref();
  }

  #enter(status: BackendStatus, cause: unknown): void {
    const same = this.#status === status && categoryOf(this.#cause) === categoryOf(cause);
    this.#cause = cause;
    if (same) return;
    this.#status = status;
    this.#sinceMs = this.#options.now();
    this.#options.changed();
  }
}

/** Programs and packages that are not there: a repeat helps only after someone has added them. */
const ABSENT: ReadonlySet<string> = new Set(['spawn', 'absent']);

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
