import type { BackendHealth, BackendHello, BackendState, BackendStatus } from '../contract/backend.ts';
import type { Era } from '../contract/era.ts';
import { type BackOff, backOffMs } from '../timing/back-off.ts';
import { LATE, within } from '../timing/within.ts';
import { categoryOf, LinkFailure } from './failure.ts';
import { isAlive } from './health/ping.ts';
import type { ReadLists } from './lists/list-reader.ts';
import type { Connector } from './sessions/connect.ts';
import { type SessionHolder, stopped } from './sessions/reopen-session.ts';

const RETRY: BackOff = { firstMs: 500, maxMs: 30_000 };
/** A link that ended after this time is reopened at once; one that ended sooner may be part of a crash loop. */
const STABLE_MS = 10_000;
/** A suspicion this soon after a successful connection is ignored. */
const TRUST_MS = 1_000;

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
  look(): Promise<ReadLists>;
  /** Called before the status becomes ready: what was known about the backend is outdated. */
  finding(link: ReadLists['link']): void;
  /** The backend is ready. */
  found(lists: ReadLists): void;
  /** Calls can be sent again. */
  returned(): void;
  /** No calls can be sent any more. */
  left(): void;
  /** Notifications on the gateway's own session are not received any more. */
  deaf(): void;
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
  #isAside = false;
  #isDoubted = false;
  #attempt: Promise<void> | undefined;
  #attemptSinceMs = 0;
  #hasBeenFound = false;
  #failures = 0;
  #quickDeaths = 0;
  #readyAtMs = 0;
  #retry: NodeJS.Timeout | undefined;

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

  get isAside(): boolean {
    return this.#isAside;
  }

  /** The running attempt, if any. Never rejects. */
  get attempt(): Promise<void> | undefined {
    return this.#attempt;
  }

  /** The running attempt, unless it repeats a failed one: worth waiting for. */
  get hopeful(): Promise<void> | undefined {
    return this.#failures === 0 ? this.#attempt : undefined;
  }

  /** Since when a program that has never answered is being started. */
  get startingSinceMs(): number | undefined {
    const isFirst = this.#options.isProgram && !this.#hasBeenFound && this.#attempt !== undefined;
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
  away(): LinkFailure {
    const category = this.#cause instanceof LinkFailure ? this.#cause.category : 'closed';
    const facts = { category, cause: this.#cause } as const;
    const why = this.#cause === undefined ? (this.#health?.errorCategory ?? category) : category;
    return new LinkFailure('BACKEND_UNREACHABLE', this.#options.backend, `is unavailable (${why})`, facts);
  }

  /** One attempt to connect; concurrent callers share it. Never rejects. */
  discover(): Promise<void> {
    clearTimeout(this.#retry);
    if (this.#attempt !== undefined) return this.#attempt;
    this.#attemptSinceMs = this.#options.now();
    this.#attempt = this.#options
      .look()
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
    this.#options.deaf();
    this.#options.base.renew();
    return this.discover();
  }

  /** A failed request suggests that the backend is down: connects again, unless an attempt is running. */
  suspect(): void {
    if (this.#status !== 'ready' || this.#attempt !== undefined) return;
    if (this.#options.now() - this.#readyAtMs < TRUST_MS) return;
    void this.renew();
  }

  /** A session of an owner was opened in this era before the gateway's own session. */
  noteEra(era: Era): void {
    this.#era ??= era;
  }

  /**
   * Checks that the backend responds: over the gateway's own session if it is open, otherwise by connecting. After a
   * failed probe the next one connects too, because only the session may be broken, or the program may hang.
   * @throws LinkFailure · AUTH_STRATEGY_FAILED; an error response that shows that the backend works is a success
   */
  async probe(timeoutMs: number, signal: AbortSignal): Promise<void> {
    const { link } = this.#options.base;
    const isDoubted = this.#isDoubted;
    this.#isDoubted = true;
    try {
      if (this.#status === 'ready' && link !== undefined && this.#attempt === undefined) {
        if (!isDoubted && (await isAlive(link, timeoutMs, signal))) {
          this.#isDoubted = false;
          return;
        }
        void this.renew();
      }
      await this.#looked(timeoutMs, signal);
      this.#isDoubted = false;
    } catch (cause) {
      throw this.#options.signal.aborted ? stopped(this.#options.backend) : cause;
    }
  }

  /** Applies the health that a monitor reports. */
  judge(health: BackendHealth): void {
    const wasAside = this.#isAside;
    this.#health = health;
    this.#isAside = health.status === 'unhealthy';
    if (this.#isAside === wasAside || this.#status !== 'ready') return;
    if (wasAside) this.#options.returned();
    else this.#options.left();
  }

  /** The gateway's own session ended. */
  lost(cause: LinkFailure): void {
    if (this.#status !== 'ready') return;
    const livedMs = this.#options.now() - this.#readyAtMs;
    this.#quickDeaths = livedMs < STABLE_MS ? this.#quickDeaths + 1 : 0;
    this.#options.deaf();
    if (this.#quickDeaths > 1) return this.#goAway(cause, this.#quickDeaths - 1);
    this.#options.note('backend lost; reconnecting', cause);
    void this.discover();
  }

  stop(): void {
    clearTimeout(this.#retry);
  }

  async #looked(timeoutMs: number, signal: AbortSignal): Promise<void> {
    const { backend } = this.#options;
    const late = () =>
      this.startingSinceMs === undefined
        ? new LinkFailure('BACKEND_TIMEOUT', backend, `did not become available within ${timeoutMs} ms`, {
            category: 'timeout',
          })
        : new LinkFailure('BACKEND_STARTING', backend, 'is still starting', { category: 'starting' });
    if ((await within(timeoutMs, signal, this.discover())) === LATE) throw late();
    this.#options.signal.throwIfAborted();
    if (this.#status !== 'ready') throw this.#cause ?? this.away();
  }

  #ready(lists: ReadLists): void {
    const { link } = lists;
    this.#failures = 0;
    this.#hasBeenFound = true;
    this.#isDoubted = false;
    this.#readyAtMs = this.#options.now();
    this.#hello = link.hello;
    this.#era = link.era;
    this.#options.finding(link);
    this.#enter('ready', undefined);
    this.#options.found(lists);
  }

  #failed(cause: unknown): void {
    if (this.#options.signal.aborted) return;
    this.#failures++;
    this.#goAway(cause, this.#failures);
  }

  #goAway(cause: unknown, attempt: number): void {
    const { base, connector, deaf, left, note } = this.#options;
    deaf();
    base.renew();
    const unauthenticated = categoryOf(cause) === 'unauthenticated';
    if (this.#status === 'ready' || this.#status === 'unknown') note('backend is unavailable', cause);
    const wasThere = this.#status === 'ready' || (this.#status === 'unauthenticated' && !unauthenticated);
    if (wasThere && !this.#isAside) left();
    if (wasThere) connector.letGo();
    this.#enter(unauthenticated ? 'unauthenticated' : 'unavailable', cause);
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => void this.discover(), backOffMs(attempt, RETRY));
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

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
