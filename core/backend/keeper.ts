import type { Authorizer } from '../contract/auth-strategy.ts';
import type { Backend, BackendHealth, BackendState } from '../contract/backend.ts';
import type { Asker, LinkOwner } from '../contract/call.ts';
import type { Caller } from '../contract/caller.ts';
import type { Era } from '../contract/era.ts';
import type { JsonObject } from '../contract/json.ts';
import { explainCause } from '../errors.ts';
import type { Log } from '../extension/plugin.ts';
import type { Limits } from '../protocol/limits.ts';
import { Connector } from './connect.ts';
import type { Conversation } from './conversation.ts';
import { LinkFailure } from './failure.ts';
import { momentFor } from './first-start.ts';
import { Gate } from './gate.ts';
import { ALL_KINDS, ListChanges } from './list-changes.ts';
import { ListReader, type ReadLists } from './list-reader.ts';
import { ModernWatches } from './modern-watches.ts';
import { OwnSessions } from './own-sessions.ts';
import { OwnerLists } from './owner-lists.ts';
import { LinkPool } from './pool.ts';
import { Presence } from './presence.ts';
import { BackendError, type BackendListing, type BackendRoomEvents, type CallerLists } from './room.ts';
import { type Seat, stopped } from './seat.ts';
import { ShownLists } from './shown-lists.ts';
import type { Spawn } from './transports/process-group.ts';

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

/** Keeps one backend for all who call it: whether it is there, the lists it has shown, the links to it. */
export class Keeper {
  readonly backend: Backend;
  readonly gate: Gate;
  readonly #options: KeeperOptions;
  readonly #connector: Connector;
  readonly #pool: LinkPool;
  readonly #presence: Presence;
  readonly #lists: ShownLists;
  readonly #reader: ListReader;
  readonly #owners: OwnerLists;
  readonly #changes: ListChanges;
  readonly #watches: ModernWatches;
  readonly #ownSessions: OwnSessions;
  readonly #stopping = new AbortController();
  #doubtedVerdict = false;
  /** Something of this backend could not be given to the call that it belongs to. */
  #isUnclear: boolean;

  constructor(options: KeeperOptions) {
    const { backend, authorizer, limits, log, now, events, inherited } = options;
    const { signal } = this.#stopping;
    const workload = backend.name;
    const note = (what: string, cause: unknown) => this.#note(what, cause);
    this.#options = options;
    this.backend = backend;
    const perCaller = authorizer.perCaller === true;
    this.gate = new Gate(workload, {
      places: limits.inFlightPerBackend,
      placesPerCaller: limits.inFlightPerCaller,
      line: limits.queuePerBackend,
      linePerCaller: limits.queuePerCaller,
    });
    this.#connector = new Connector(options);
    this.#lists = new ShownLists({
      limits,
      inherited,
      now,
      changed: (listClass) => events.listed(workload, listClass),
      keepsCallers: () => this.#presence.status === 'unauthenticated',
    });
    this.#pool = new LinkPool({
      backend,
      connector: this.#connector,
      perCaller,
      limits,
      log,
      now,
      listChanged: (seat, kind) => this.#reader.changed(seat, [kind]),
      lost: (seat, cause) => this.#lost(seat, cause),
      unclear: () => {
        this.#isUnclear = true;
      },
    });
    const { base } = this.#pool;
    this.#reader = new ListReader({
      backend,
      pool: this.#pool,
      lists: this.#lists,
      limits,
      log,
      signal,
      credentialsRefused: (caller) => this.credentialsRefused(caller),
      looking: () => this.#presence.attempt,
      unchanged({ owner }, kinds) {
        // Lists that are a caller's own were read for this caller: they are the same for its clients too.
        if (!perCaller) owner?.sink?.listsChanged?.(workload, kinds);
      },
      note,
    });
    this.#changes = new ListChanges({
      backend,
      base,
      limits,
      log,
      changed: (kinds) => this.#reader.changed(base, kinds),
    });
    this.#isUnclear = backend.transport !== 'streamable-http';
    this.#ownSessions = new OwnSessions({
      workload,
      perCaller: limits.sessionsPerAskedCaller,
      isIdle: (owner, number) => {
        const link = this.#pool.find(owner, number)?.link;
        return link === undefined ? number === 0 : link.inFlight === 0;
      },
      link: (owner, number) => this.linkFor(owner, number),
      waiting: () =>
        log.info('calls of one caller wait for one another: each needs a session alone', { backend: workload }),
    });
    this.#watches = new ModernWatches({ workload, limits, log, link: (owner) => this.linkFor(owner) });
    this.#presence = new Presence({
      workload,
      connector: this.#connector,
      base,
      isProgram: backend.transport === 'stdio',
      signal,
      now,
      look: () => this.#look(),
      finding: ({ era }) => {
        this.#pool.forgetModernOnly();
        this.#lists.outdate(era);
      },
      found: ({ listing }) => this.#found(listing),
      returned: () => this.#returned(),
      left: () => this.#lists.startGrace(),
      deaf: () => this.#changes.stop(),
      changed: () => events.changed({ name: workload, change: 'status', state: this.state }),
      note,
    });
    this.#owners = new OwnerLists({
      perCaller,
      pool: this.#pool,
      presence: this.#presence,
      lists: this.#lists,
      reader: this.#reader,
      signal,
      note,
    });
  }

  /** Begins; resolves after the first attempt, whatever came of it. */
  start(): Promise<void> {
    if (this.#lists.byClass.size > 0) this.#lists.startGrace();
    return this.#presence.discover();
  }

  get state(): BackendState {
    return { backend: this.backend, ...this.#presence.facts };
  }

  get era(): Era | undefined {
    return this.#presence.era;
  }

  get listings(): ReadonlyMap<string, BackendListing> {
    return this.#lists.byClass;
  }

  /** The lists of a class: a caller's own, or those of its capability class, or those of the base class. */
  listing(listClass: string): BackendListing | undefined {
    return this.#lists.of(listClass);
  }

  countLinks(): number {
    return this.#pool.countLinks();
  }

  /**
   * The link for an owner's requests; a promise while one is being opened.
   * @throws GatewayFault at once while the backend is known to be away or has been starting for a while
   */
  linkFor(owner: LinkOwner, number = 0): Conversation | Promise<Conversation> {
    if (this.#presence.isAside) throw this.#presence.away();
    const link = this.#pool.find(owner, number)?.ready;
    if (link !== undefined) return link;
    if (this.#stopping.signal.aborted) throw stopped(this.backend.name);
    const { hopeful, attempt, startingSinceMs } = this.#presence;
    if (attempt !== undefined && startingSinceMs !== undefined) {
      const { discoveryMs: waitMs, firstStartMs } = this.#options.limits;
      const times = { startedMs: startingSinceMs, nowMs: this.#options.now(), waitMs, firstStartMs };
      return momentFor(attempt, this.backend.name, times).then(() => this.#openFor(owner, number));
    }
    return hopeful === undefined ? this.#openFor(owner, number) : hopeful.then(() => this.#openFor(owner, number));
  }

  /**
   * The sessions from which a call must have one alone, or nobody could say what of the backend's questions and log
   * messages is its own; `undefined` when it may share.
   *
   * Clients of 2025-11-25 have sessions of their own, in which any of their calls may be asked. Those of 2026-07-28 are
   * asked by the answer of one call, so it must be known which.
   */
  ownSessionsFor({ era, owner, logLevel }: Asker): OwnSessions | undefined {
    if (!this.#isUnclear || era !== '2026-07-28' || !this.#pool.isOwn(owner)) return undefined;
    const mayBeTold = owner.capabilityClass !== '' || logLevel !== undefined;
    return mayBeTold || this.#ownSessions.isSharedHeld(owner) ? this.#ownSessions : undefined;
  }

  /** The backend answered 401: says whether the credentials are made anew, so that the request may be sent once more. */
  credentialsRefused(caller: Caller): boolean {
    return this.#options.authorizer.refused?.(this.backend, caller) === true;
  }

  /** Something about a request says that the backend may have gone: looks at once, if it is not looking already. */
  suspect(): void {
    this.#presence.suspect();
  }

  /** Asks for a sign of life; see `Presence`. @throws LinkFailure · AUTH_STRATEGY_FAILED */
  async probe(timeoutMs: number, signal: AbortSignal): Promise<void> {
    await this.#presence.probe(timeoutMs, signal);
  }

  /** Takes a monitor's verdict. */
  judge(health: BackendHealth): void {
    this.#presence.judge(health);
  }

  /** The backend contradicts its era: asks again and resolves when the answer is there. */
  async doubtEra(): Promise<void> {
    this.#connector.forget();
    await this.#presence.renew();
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
    const { listing } = await this.#reader.readBase();
    this.#lists.store('', listing);
  }

  /** Sees that an owner's capability class has lists of its own where it may differ. Never rejects. */
  async welcome(owner: LinkOwner): Promise<void> {
    await this.#owners.welcome(owner);
  }

  /** What is known of the lists that this backend gives one caller only. */
  callerLists(owner: LinkOwner): CallerLists {
    return this.#owners.known(owner);
  }

  /** @throws GatewayFault · BackendError */
  async watch(uri: string, owner: LinkOwner): Promise<void> {
    const link = await this.linkFor(owner);
    if (link.era !== '2026-07-28') return this.#pool.seatFor(owner).watch(uri, owner);
    await this.#watches.add(uri, owner);
  }

  async unwatch(uri: string, owner: LinkOwner): Promise<void> {
    if (await this.#watches.remove(uri, owner.key)) return;
    const seat = this.#pool.find(owner);
    if (seat === undefined) this.#pool.forgetWatch(owner, uri);
    else await seat.unwatch(uri, owner.key);
  }

  /** `atLeast` never makes a session quieter than it is. */
  setLogLevel(owner: LinkOwner, level: string, atLeast = false, number = 0): void {
    this.#pool.setLevel(owner, level, atLeast, number);
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
    this.#presence.stop();
    this.#lists.stop();
    this.#reader.stop();
    this.#changes.stop();
    this.#watches.stop();
    await this.#pool.close();
    await this.#presence.attempt;
    await this.#connector.close();
  }

  #openFor(owner: LinkOwner, number: number): Conversation | Promise<Conversation> {
    const { status } = this.#presence;
    if (status === 'unavailable' || status === 'unknown') throw this.#presence.away();
    const seat = this.#pool.seatFor(owner, number);
    return seat.era === undefined ? seat.take() : this.#openBeside(seat, owner, number);
  }

  /** A session of the client's own era, or the gateway's own link where the backend has none of that era or no room. */
  async #openBeside(seat: Seat, owner: LinkOwner, number: number): Promise<Conversation> {
    try {
      return await seat.take();
    } catch (cause) {
      if (this.#stopping.signal.aborted) throw cause;
      // Another client may have found out meanwhile, and ended this attempt with its own.
      if (this.#pool.isModernOnly) return this.#openFor(owner, number);
      if (!refusesEra(cause) || !this.#pool.noteModernOnly()) throw cause;
      this.#options.log.info('backend serves 2026-07-28 only; its legacy clients are bridged', {
        backend: this.backend.name,
        cause: explainCause(cause),
      });
      return this.#openFor(owner, number);
    }
  }

  #look(): Promise<ReadLists> {
    const opened = (link: Conversation) => {
      // Before the lists are read: a change in between must not go unheard.
      if (link.era !== '2026-07-28') return;
      this.#changes.listenTo(link).catch((cause: unknown) => this.#note('changes are not heard', cause));
    };
    return this.#reader.look(opened);
  }

  #found(listing: BackendListing): void {
    // A monitor that was just told may have changed its mind.
    if (this.#presence.isAside) this.#lists.startGrace();
    else this.#lists.endGrace();
    this.#lists.store('', listing);
    this.#reader.refreshStale();
    this.#watches.restore((cause) => this.#note('subscription not restored', cause));
  }

  #returned(): void {
    this.#lists.endGrace();
    // A look that is under way reads them anyway.
    const areThere = this.listings.has('') || this.#presence.attempt !== undefined;
    if (!areThere) this.#reader.changed(this.#pool.base, ALL_KINDS);
  }

  #lost(seat: Seat, cause: LinkFailure): void {
    if (this.#stopping.signal.aborted || this.#presence.attempt !== undefined) return;
    if (seat === this.#pool.base) this.#presence.lost(cause);
    // A server that forgot one session has most likely forgotten all.
    else if (cause.category === 'session') this.#presence.suspect();
  }

  /** What a stop cuts short is no trouble. */
  #note(what: string, cause: unknown): void {
    const level = this.#stopping.signal.aborted ? 'debug' : 'warn';
    this.#options.log[level](what, { backend: this.backend.name, cause: explainCause(cause) });
  }
}

/** Whether a failed `initialize` says that there is no such session, rather than that the backend is away. */
function refusesEra(cause: unknown): boolean {
  if (cause instanceof BackendError) return true;
  if (!(cause instanceof LinkFailure)) return false;
  return REFUSALS.has(cause.category) && (cause.httpStatus === undefined || cause.httpStatus < 500);
}

/** Kinds of failure by which a server that knows no `initialize` ends it. */
const REFUSALS: ReadonlySet<string> = new Set(['http', 'protocol', 'exit', 'timeout', 'session']);
