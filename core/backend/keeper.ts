import type { Authorizer } from '../contract/auth-strategy.ts';
import type { Backend, BackendHealth, BackendHello, BackendState, BackendStatus } from '../contract/backend.ts';
import type { LinkOwner } from '../contract/call.ts';
import type { Caller } from '../contract/caller.ts';
import type { Era } from '../contract/era.ts';
import type { JsonObject } from '../contract/json.ts';
import { explainCause } from '../errors.ts';
import type { Log } from '../extension/plugin.ts';
import { listClassOf, sharedClass } from '../protocol/capabilities.ts';
import type { Limits } from '../protocol/limits.ts';
import { isObject } from '../protocol/raw-json.ts';
import { CallerListTimes } from './caller-lists.ts';
import { Connector } from './connect.ts';
import type { Conversation } from './conversation.ts';
import { DISCOVERY_CALLER } from './discovery-caller.ts';
import { categoryOf, LinkFailure } from './failure.ts';
import { Gate } from './gate.ts';
import { isAlive } from './is-alive.ts';
import type { ListKind } from './link.ts';
import { Listening } from './listening.ts';
import { mergeLists, readListing, sameListing } from './listing.ts';
import { ModernWatches } from './modern-watches.ts';
import { LinkPool } from './pool.ts';
import { Relists } from './relists.ts';
import type { BackendListing, BackendRoomEvents, CallerLists } from './room.ts';
import { type Seat, stopped } from './seat.ts';
import type { Spawn } from './transports/process-group.ts';
import { backOffMs, waitFor } from './wait.ts';

const RETRY_FIRST_MS = 500;
const RETRY_MAX_MS = 30_000;
/** A link that lived this long ended for reasons of its own; one that did not is part of a crash loop. */
const STABLE_MS = 10_000;
/** A suspicion this soon after a good hello is a passing one. */
const TRUST_MS = 1_000;

/** What one backend is kept with. */
export interface KeeperOptions {
  readonly backend: Backend;
  readonly authorizer: Authorizer;
  readonly clientInfo: JsonObject;
  readonly limits: Limits;
  readonly log: Log;
  readonly events: BackendRoomEvents;
  readonly spawn: Spawn | undefined;
  readonly tally: { processes: number };
  /** Lists of the description before this one; served until the backend has shown its own. */
  readonly inherited?: ReadonlyMap<string, BackendListing>;
  now(): number;
}

/** Keeps one backend: finds it, reads its lists, notices when it goes and comes back. */
export class Keeper {
  readonly backend: Backend;
  readonly gate: Gate;
  readonly #options: KeeperOptions;
  readonly #perCaller: boolean;
  readonly #connector: Connector;
  readonly #pool: LinkPool;
  readonly #listings: Map<string, BackendListing>;
  readonly #stale = new Set<string>();
  readonly #callerLists: CallerListTimes;
  readonly #relists: Relists;
  readonly #welcomes = new Map<string, Promise<void>>();
  readonly #watches: ModernWatches;
  readonly #stopping = new AbortController();
  readonly #changes: Listening;
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
  #failures = 0;
  #quickDeaths = 0;
  #readyAtMs = 0;
  #doubtedVerdict = false;
  #retry: NodeJS.Timeout | undefined;
  #grace: NodeJS.Timeout | undefined;

  constructor(options: KeeperOptions) {
    const { backend, limits, log, now } = options;
    this.#options = options;
    this.backend = backend;
    this.#perCaller = options.authorizer.perCaller === true;
    this.gate = new Gate(backend.name, limits.inFlightPerBackend, limits.queuePerBackend);
    this.#listings = new Map(options.inherited);
    this.#sinceMs = now();
    this.#callerLists = new CallerListTimes(limits.callerLists, now);
    this.#connector = new Connector(options);
    this.#pool = new LinkPool({
      backend,
      connector: this.#connector,
      perCaller: this.#perCaller,
      limits,
      log,
      now,
      listChanged: (seat, kind) => this.#listChanged(seat, [kind]),
      lost: (seat, cause) => this.#lost(seat, cause),
    });
    this.#relists = new Relists({
      coalesceMs: limits.coalesceMs,
      read: (seat, kinds) => this.#relist(seat, kinds),
      failed: (cause) => this.#note('changed lists not read', cause),
    });
    this.#watches = new ModernWatches({
      workload: backend.name,
      limits,
      log,
      link: (owner) => this.linkFor(owner),
    });
    const { base } = this.#pool;
    this.#changes = new Listening({
      workload: backend.name,
      caller: DISCOVERY_CALLER,
      capabilities: {},
      purpose: 'discovery',
      limits,
      log,
      link: () => base.take(),
      heard: (method) => {
        const kind = LIST_CHANGES[method];
        if (kind !== undefined) this.#listChanged(base, [kind]);
      },
      resumed: () => this.#listChanged(base, ALL_KINDS),
    });
  }

  /** Begins; resolves after the first attempt, whatever came of it. */
  start(): Promise<void> {
    if (this.#listings.size > 0) this.#startGrace();
    return this.#discover();
  }

  get state(): BackendState {
    const cause = this.#cause;
    return {
      backend: this.backend,
      status: this.#status,
      era: this.era,
      cause: cause === undefined ? undefined : { category: categoryOf(cause), message: messageOf(cause) },
      sinceMs: this.#sinceMs,
      hello: this.#hello,
      ...(this.#health === undefined ? {} : { health: this.#health }),
    };
  }

  get era(): Era | undefined {
    return this.#era ?? this.#connector.era;
  }

  get listings(): ReadonlyMap<string, BackendListing> {
    return this.#listings;
  }

  /** The lists of a class: a caller's own, or those of its capability class, or those of the base class. */
  listing(listClass: string): BackendListing | undefined {
    const listings = this.#listings;
    return listings.get(listClass) ?? listings.get(sharedClass(listClass)) ?? listings.get('');
  }

  countLinks(): number {
    return this.#pool.countLinks();
  }

  /**
   * The link for an owner's requests; a promise while one is being opened.
   * @throws GatewayFault at once while the backend is known to be away
   */
  linkFor(owner: LinkOwner): Conversation | Promise<Conversation> {
    if (this.#isAside) throw this.#away();
    const link = this.#pool.find(owner)?.link;
    if (link !== undefined) return link;
    if (this.#stopping.signal.aborted) throw stopped(this.backend.name);
    if (this.#attempt !== undefined && this.#failures === 0) return this.#attempt.then(() => this.#openFor(owner));
    return this.#openFor(owner);
  }

  /** The backend answered 401: says whether the credentials are made anew, so that the request may be sent once more. */
  credentialsRefused(caller: Caller): boolean {
    return this.#options.authorizer.refused?.(this.backend, caller) === true;
  }

  /** Something about a request says that the backend may have gone: looks at once, if it is not looking already. */
  suspect(): void {
    if (this.#status !== 'ready' || this.#attempt !== undefined) return;
    if (this.#options.now() - this.#readyAtMs < TRUST_MS) return;
    void this.#renew();
  }

  /**
   * Asks for a sign of life: over the gateway's own link where it lives, by looking for the backend where it does not.
   * After a probe in vain the next one looks too: perhaps only the link is dead, or the program hangs.
   * @throws LinkFailure · AUTH_STRATEGY_FAILED; a refusal that shows life is a success
   */
  async probe(timeoutMs: number, signal: AbortSignal): Promise<void> {
    const { link } = this.#pool.base;
    const isDoubted = this.#isDoubted;
    this.#isDoubted = true;
    try {
      if (this.#status === 'ready' && link !== undefined && this.#attempt === undefined) {
        if (!isDoubted && (await isAlive(link, timeoutMs, signal))) {
          this.#isDoubted = false;
          return;
        }
        void this.#renew();
      }
      await this.#looked(timeoutMs, signal);
      this.#isDoubted = false;
    } catch (cause) {
      throw this.#stopping.signal.aborted ? stopped(this.backend.name) : cause;
    }
  }

  /** Takes a monitor's verdict. */
  judge(health: BackendHealth): void {
    const wasAside = this.#isAside;
    this.#health = health;
    this.#isAside = health.status === 'unhealthy';
    if (this.#isAside === wasAside || this.#status !== 'ready') return;
    if (!wasAside) return this.#startGrace();
    clearTimeout(this.#grace);
    // A look that is under way reads them anyway.
    if (!this.#listings.has('') && this.#attempt === undefined) this.#listChanged(this.#pool.base, ALL_KINDS);
  }

  /** The backend contradicts its era: asks again and resolves when the answer is there. */
  async doubtEra(): Promise<void> {
    this.#connector.forget();
    await this.#renew();
  }

  /** A modern backend answered in a legacy way. Looked into once: some servers are only sloppy. */
  noteSloppyResult(): void {
    if (this.#doubtedVerdict) return;
    this.#doubtedVerdict = true;
    this.#options.log.warn('modern backend answered without resultType', { backend: this.backend.name });
    void this.doubtEra();
  }

  /** Reads the base lists again and resolves when they are there. @throws GatewayFault · BackendError */
  async relistNow(): Promise<void> {
    const { base } = this.#pool;
    const link = await base.take();
    this.#store('', await readListing(link, this.#errand(base)));
  }

  /** Sees that an owner's capability class has lists of its own where it may differ. Never rejects. */
  async welcome(owner: LinkOwner): Promise<void> {
    if (this.#attempt !== undefined && this.#failures === 0) await this.#attempt;
    const capabilityClass = this.#classOf(owner);
    if (this.#stopping.signal.aborted || this.#isAside || !this.#mayDiffer(owner)) return;
    const isKnown = this.#listings.has(capabilityClass) && !this.#stale.has(capabilityClass);
    if (isKnown && this.callerLists(owner) === 'known') return;
    let running = this.#welcomes.get(capabilityClass);
    if (running === undefined) {
      running = this.#listFor(owner).finally(() => this.#welcomes.delete(capabilityClass));
      this.#welcomes.set(capabilityClass, running);
    }
    await running;
  }

  /** What is known of the lists that this backend gives one caller only. */
  callerLists(owner: LinkOwner): CallerLists {
    if (!this.#perCaller || this.#isAside || !this.#mayDiffer(owner)) return 'known';
    const name = listClassOf(owner);
    if (!this.#listings.has(name)) return this.#callerLists.mayTry(name) ? 'missing' : 'known';
    // Nobody tells of changes in lists of a single caller, unless a session of the caller's does.
    const isOld = this.#stale.has(name) || (this.era === '2026-07-28' && this.#callerLists.isOld(name));
    return isOld && this.#callerLists.mayTry(name) ? 'old' : 'known';
  }

  /** @throws GatewayFault · BackendError */
  async watch(uri: string, owner: LinkOwner): Promise<void> {
    const link = await this.linkFor(owner);
    if (link.era !== '2026-07-28') return this.#pool.seatFor(owner).watch(uri, owner);
    await this.#watches.add(uri, owner);
  }

  async unwatch(uri: string, owner: LinkOwner): Promise<void> {
    if (await this.#watches.remove(uri, owner.key)) return;
    await this.#pool.find(owner)?.unwatch(uri, owner.key);
  }

  /** `atLeast` never makes a session quieter than it is. */
  setLogLevel(owner: LinkOwner, level: string, atLeast = false): void {
    this.#pool.setLevel(owner, level, atLeast);
  }

  rootsChanged(owner: LinkOwner): void {
    if (!this.#pool.sharesBase(owner)) this.#pool.find(owner)?.rootsChanged();
  }

  async release(ownerKey: string): Promise<void> {
    this.#watches.release(ownerKey);
    await this.#pool.release(ownerKey);
  }

  async stop(): Promise<void> {
    this.#stopping.abort(stopped(this.backend.name));
    clearTimeout(this.#retry);
    clearTimeout(this.#grace);
    this.#relists.stop();
    this.#changes.stop();
    this.#watches.stop();
    await this.#pool.close();
    await this.#attempt;
    await this.#connector.close();
  }

  async #looked(timeoutMs: number, signal: AbortSignal): Promise<void> {
    const late = () => {
      const facts = { category: 'timeout' } as const;
      return new LinkFailure('BACKEND_TIMEOUT', this.backend.name, `was not found within ${timeoutMs} ms`, facts);
    };
    await waitFor(this.#discover(), timeoutMs, signal, late);
    this.#stopping.signal.throwIfAborted();
    if (this.#status !== 'ready') throw this.#cause ?? this.#away();
  }

  #openFor(owner: LinkOwner): Conversation | Promise<Conversation> {
    if (this.#status === 'unavailable' || this.#status === 'unknown') throw this.#away();
    return this.#pool.seatFor(owner).take();
  }

  #away(): LinkFailure {
    const category = this.#cause instanceof LinkFailure ? this.#cause.category : 'closed';
    const facts = { category, cause: this.#cause } as const;
    const why = this.#cause === undefined ? (this.#health?.errorCategory ?? category) : category;
    return new LinkFailure('BACKEND_UNREACHABLE', this.backend.name, `is away (${why})`, facts);
  }

  /** One look at the backend; all who ask meanwhile share it. Never rejects. */
  #discover(): Promise<void> {
    clearTimeout(this.#retry);
    this.#attempt ??= this.#authorized(this.#pool.base, () => this.#look())
      .catch((cause: unknown) => this.#failed(cause))
      .finally(() => {
        this.#attempt = undefined;
      });
    return this.#attempt;
  }

  async #look(): Promise<void> {
    const { base } = this.#pool;
    const link = await base.take();
    // Before the lists are read: a change in between must not go unheard.
    if (link.era === '2026-07-28') this.#listenTo(link);
    const listing = await readListing(link, this.#errand(base));
    this.#ready(link, listing);
  }

  #renew(): Promise<void> {
    if (this.#attempt !== undefined) return this.#attempt;
    this.#changes.stop();
    this.#pool.base.renew();
    return this.#discover();
  }

  #ready(link: Conversation, listing: BackendListing): void {
    this.#failures = 0;
    this.#isDoubted = false;
    this.#readyAtMs = this.#options.now();
    this.#hello = link.hello;
    this.#era = link.era;
    for (const capabilityClass of [...this.#listings.keys()]) {
      if (capabilityClass === '') continue;
      this.#stale.add(capabilityClass);
      // What the gateway itself is shown now, and callers were shown each before.
      const isBase = sharedClass(capabilityClass) === '';
      if (link.era === '2026-07-28' || isBase) this.#drop(capabilityClass);
    }
    this.#enter('ready', undefined);
    // A monitor that was just told may have changed its mind.
    if (this.#isAside) this.#startGrace();
    else clearTimeout(this.#grace);
    this.#store('', listing);
    for (const capabilityClass of this.#stale) this.#refreshClass(capabilityClass);
    this.#watches.restore((cause) => this.#note('subscription not restored', cause));
  }

  #failed(cause: unknown): void {
    if (this.#stopping.signal.aborted) return;
    this.#failures++;
    this.#goAway(cause, this.#failures);
  }

  #goAway(cause: unknown, attempt: number): void {
    this.#changes.stop();
    this.#pool.base.renew();
    const unauthenticated = categoryOf(cause) === 'unauthenticated';
    if (this.#status === 'ready' || this.#status === 'unknown') this.#note('backend is away', cause);
    const wasThere = this.#status === 'ready' || (this.#status === 'unauthenticated' && !unauthenticated);
    if (wasThere && !this.#isAside) this.#startGrace();
    if (wasThere) this.#connector.letGo();
    this.#enter(unauthenticated ? 'unauthenticated' : 'unavailable', cause);
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => void this.#discover(), backOffMs(attempt, RETRY_FIRST_MS, RETRY_MAX_MS));
    this.#retry.unref();
  }

  /** Lists that nobody can call through any more leave after a while. */
  #startGrace(): void {
    clearTimeout(this.#grace);
    this.#grace = setTimeout(() => {
      const stays = (name: string) => this.#status === 'unauthenticated' && sharedClass(name) !== name;
      for (const name of [...this.#listings.keys()]) if (!stays(name)) this.#drop(name);
    }, this.#options.limits.listGraceMs);
    this.#grace.unref();
  }

  #enter(status: BackendStatus, cause: unknown): void {
    const same = this.#status === status && categoryOf(this.#cause) === categoryOf(cause);
    this.#cause = cause;
    if (same) return;
    this.#status = status;
    this.#sinceMs = this.#options.now();
    this.#options.events.changed({ name: this.backend.name, change: 'status', state: this.state });
  }

  #lost(seat: Seat, cause: LinkFailure): void {
    if (this.#stopping.signal.aborted || this.#attempt !== undefined) return;
    if (seat !== this.#pool.base) {
      // A server that forgot one session has most likely forgotten all.
      if (cause.category === 'session') this.suspect();
      return;
    }
    if (this.#status !== 'ready') return;
    const livedMs = this.#options.now() - this.#readyAtMs;
    this.#quickDeaths = livedMs < STABLE_MS ? this.#quickDeaths + 1 : 0;
    this.#changes.stop();
    if (this.#quickDeaths > 1) return this.#goAway(cause, this.#quickDeaths - 1);
    this.#note('backend lost; looking for it again', cause);
    void this.#discover();
  }

  #listChanged(seat: Seat, kinds: readonly ListKind[]): void {
    if (this.#stopping.signal.aborted) return;
    const { capabilityClass } = seat;
    if (seat !== this.#pool.base && !this.#listings.has(capabilityClass)) return;
    this.#relists.add(seat, kinds);
  }

  async #relist(seat: Seat, kinds: ReadonlySet<ListKind>): Promise<void> {
    // The look that is under way reads everything; what it misses comes after it.
    if (seat === this.#pool.base) await this.#attempt;
    const { capabilityClass } = seat;
    const wanted = this.#listings.has(capabilityClass) ? kinds : new Set(ALL_KINDS);
    const read = await this.#authorized(seat, async () => readListing(await seat.take(), this.#errand(seat), wanted));
    // Other lists may have been read meanwhile: only what was asked for is replaced.
    const before = this.#listings.get(capabilityClass);
    this.#store(capabilityClass, before === undefined ? read : mergeLists(before, read, wanted));
  }

  #store(capabilityClass: string, listing: BackendListing): void {
    if (this.#stopping.signal.aborted) return;
    const before = this.#listings.get(capabilityClass);
    this.#stale.delete(capabilityClass);
    this.#listings.set(capabilityClass, listing);
    if (sharedClass(capabilityClass) !== capabilityClass) {
      for (const name of this.#callerLists.read(capabilityClass)) this.#drop(name);
    }
    if (before !== undefined && sameListing(before, listing)) return;
    this.#options.events.listed(this.backend.name, capabilityClass);
  }

  #drop(capabilityClass: string): void {
    this.#stale.delete(capabilityClass);
    this.#callerLists.forget(capabilityClass);
    if (this.#listings.delete(capabilityClass)) this.#options.events.listed(this.backend.name, capabilityClass);
  }

  /** Reads a class's lists again through any living link of it; without one the next welcome does. */
  #refreshClass(capabilityClass: string): void {
    const seat = this.#pool.livingOf(capabilityClass);
    if (seat !== undefined) this.#listChanged(seat, ALL_KINDS);
  }

  #classOf(owner: LinkOwner): string {
    return this.#perCaller ? listClassOf(owner) : owner.capabilityClass;
  }

  #mayDiffer(owner: LinkOwner): boolean {
    if (this.#status === 'unauthenticated') return true;
    return this.#status === 'ready' && owner.capabilityClass !== '' && !this.#pool.sharesBase(owner);
  }

  async #listFor(owner: LinkOwner): Promise<void> {
    try {
      const seat = this.#pool.seatFor(owner);
      const listing = await this.#authorized(seat, async () => {
        const link = await seat.take();
        if (this.#era === undefined) this.#era = link.era;
        return readListing(link, this.#errand(seat));
      });
      this.#store(this.#classOf(owner), listing);
    } catch (cause) {
      this.#callerLists.failed(this.#classOf(owner));
      this.#note('lists of a capability class not read', cause);
    }
  }

  /** Runs what a backend may refuse by 401 for a credential that has gone stale: once more when it is made anew. */
  async #authorized<T>(seat: Seat, run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (cause) {
      const isStale = cause instanceof LinkFailure && cause.httpStatus === 401 && this.credentialsRefused(seat.caller);
      if (!isStale) throw cause;
      seat.renew();
      return run();
    }
  }

  #errand(seat: Seat) {
    const { limits, log } = this.#options;
    const { caller, purpose, capabilities } = seat;
    return { backend: this.backend, caller, purpose, capabilities, limits, log, signal: this.#stopping.signal };
  }

  #listenTo(link: Conversation): void {
    const filter: Record<string, true> = {};
    for (const kind of ['tools', 'prompts', 'resources'] as const) {
      const capability = link.hello.capabilities[kind];
      if (isObject(capability) && capability.listChanged === true) filter[`${kind}ListChanged`] = true;
    }
    if (Object.keys(filter).length === 0) return;
    this.#changes.want(filter).catch((cause: unknown) => this.#note('changes are not heard', cause));
  }

  #note(what: string, cause: unknown): void {
    this.#options.log.warn(what, { backend: this.backend.name, cause: explainCause(cause) });
  }
}

const ALL_KINDS: readonly ListKind[] = ['tools', 'prompts', 'resources'];

const LIST_CHANGES: Readonly<Record<string, ListKind>> = {
  'notifications/tools/list_changed': 'tools',
  'notifications/prompts/list_changed': 'prompts',
  'notifications/resources/list_changed': 'resources',
};

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
