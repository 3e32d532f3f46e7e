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
/** A link that lived this long ended for reasons of its own; one that did not is part of a crash loop. */
const STABLE_MS = 10_000;
/** A suspicion this soon after a good hello is a passing one. */
const TRUST_MS = 1_000;

/** What is told of a backend's coming and going, and how it is looked at. */
export interface AvailabilityOptions {
  readonly backend: string;
  readonly connector: Connector;
  /** The gateway's own link. */
  readonly base: SessionHolder;
  /** A program of this machine: its first start may install it. */
  readonly isProgram: boolean;
  /** Aborts when the backend is not kept any more. */
  readonly signal: AbortSignal;
  now(): number;
  /** One look: opens the gateway's own link and reads its lists. @throws whatever kept it from seeing them */
  look(): Promise<ReadLists>;
  /** It was found, and is about to be called ready: what was known before is out of date. */
  finding(link: ReadLists['link']): void;
  /** It is ready. */
  found(lists: ReadLists): void;
  /** Calls can be sent again. */
  returned(): void;
  /** No call can be sent any more. */
  left(): void;
  /** What is listened to over the gateway's own link is heard no more. */
  deaf(): void;
  /** The status, or the kind of trouble, is another one. */
  changed(): void;
  note(what: string, cause: unknown): void;
}

/** Whether one backend is there: looks for it, notices that it goes, looks again, and takes a monitor's word on it. */
export class Availability {
  readonly #options: AvailabilityOptions;
  #status: BackendStatus = 'unknown';
  #cause: unknown;
  #sinceMs: number;
  #hello: BackendHello | undefined;
  #era: Era | undefined;
  #health: BackendHealth | undefined;
  /** By a monitor: no call is sent, and the lists leave after the grace time. */
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

  /** A look that is under way. Never rejects. */
  get attempt(): Promise<void> | undefined {
    return this.#attempt;
  }

  /** A look that is under way and not the repetition of one in vain: worth waiting for. */
  get hopeful(): Promise<void> | undefined {
    return this.#failures === 0 ? this.#attempt : undefined;
  }

  /** A program that has never answered is being started: since when. */
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

  /** The fault of calls that are not sent because the backend is away. */
  away(): LinkFailure {
    const category = this.#cause instanceof LinkFailure ? this.#cause.category : 'closed';
    const facts = { category, cause: this.#cause } as const;
    const why = this.#cause === undefined ? (this.#health?.errorCategory ?? category) : category;
    return new LinkFailure('BACKEND_UNREACHABLE', this.#options.backend, `is away (${why})`, facts);
  }

  /** One look at the backend; all who ask meanwhile share it. Never rejects. */
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

  /** Looks over a new link, if it is not looking already. Never rejects. */
  renew(): Promise<void> {
    if (this.#attempt !== undefined) return this.#attempt;
    this.#options.deaf();
    this.#options.base.renew();
    return this.discover();
  }

  /** Something about a request says that the backend may have gone: looks at once, if it is not looking already. */
  suspect(): void {
    if (this.#status !== 'ready' || this.#attempt !== undefined) return;
    if (this.#options.now() - this.#readyAtMs < TRUST_MS) return;
    void this.renew();
  }

  /** A link of an owner answered in this era before the gateway itself was let in. */
  noteEra(era: Era): void {
    this.#era ??= era;
  }

  /**
   * Asks for a sign of life: over the gateway's own link where it lives, by looking for the backend where it does not.
   * After a probe in vain the next one looks too: perhaps only the link is dead, or the program hangs.
   * @throws LinkFailure · AUTH_STRATEGY_FAILED; a refusal that shows life is a success
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

  /** Takes a monitor's verdict. */
  judge(health: BackendHealth): void {
    const wasAside = this.#isAside;
    this.#health = health;
    this.#isAside = health.status === 'unhealthy';
    if (this.#isAside === wasAside || this.#status !== 'ready') return;
    if (wasAside) this.#options.returned();
    else this.#options.left();
  }

  /** The gateway's own link ended. */
  lost(cause: LinkFailure): void {
    if (this.#status !== 'ready') return;
    const livedMs = this.#options.now() - this.#readyAtMs;
    this.#quickDeaths = livedMs < STABLE_MS ? this.#quickDeaths + 1 : 0;
    this.#options.deaf();
    if (this.#quickDeaths > 1) return this.#goAway(cause, this.#quickDeaths - 1);
    this.#options.note('backend lost; looking for it again', cause);
    void this.discover();
  }

  stop(): void {
    clearTimeout(this.#retry);
  }

  async #looked(timeoutMs: number, signal: AbortSignal): Promise<void> {
    const { backend } = this.#options;
    const late = () =>
      this.startingSinceMs === undefined
        ? new LinkFailure('BACKEND_TIMEOUT', backend, `was not found within ${timeoutMs} ms`, { category: 'timeout' })
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
    if (this.#status === 'ready' || this.#status === 'unknown') note('backend is away', cause);
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
