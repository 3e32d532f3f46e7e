import type { Authorizer } from '../contract/auth-strategy.ts';
import type { Backend, BackendHealth, BackendState } from '../contract/backend.ts';
import type { Caller } from '../contract/caller.ts';
import type { ClientContext, SessionOwner } from '../contract/client-context.ts';
import type { Era } from '../contract/era.ts';
import type { JsonObject } from '../contract/json.ts';
import type { StdioLauncher } from '../contract/stdio-launcher.ts';
import { explainCause } from '../errors.ts';
import type { Log } from '../extension/plugin.ts';
import type { HttpClientFactory } from '../http1/http-client.ts';
import type { Limits } from '../limits.ts';
import { BackendError } from '../mcp/errors.ts';
import { LIST_KINDS } from '../mcp/methods.ts';
import { Availability } from './availability.ts';
import type { BackendListing, BackendManagerEvents, CallerLists } from './backend-manager.ts';
import { ConcurrencyLimit } from './concurrency-limit.ts';
import { LinkFailure } from './failure.ts';
import { ListCache } from './lists/list-cache.ts';
import { ListChanges } from './lists/list-changes.ts';
import { ListReader, type ReadLists } from './lists/list-reader.ts';
import { OwnerLists } from './lists/owner-lists.ts';
import { Connector } from './sessions/connect.ts';
import { OwnSessions } from './sessions/exclusive-sessions.ts';
import { momentFor } from './sessions/first-start.ts';
import type { JsonRpcConnection } from './sessions/json-rpc-connection.ts';
import { type SessionHolder, stopped } from './sessions/reopen-session.ts';
import { SessionPool } from './sessions/session-pool.ts';
import { ModernWatches } from './subscriptions/modern-subscriptions.ts';
import type { Spawn } from './transports/process-group.ts';

/** What one backend is kept with. */
export interface BackendControllerOptions {
  readonly backend: Backend;
  readonly authorizer: Authorizer;
  readonly clientInfo: JsonObject;
  readonly limits: Limits;
  readonly log: Log;
  readonly events: BackendManagerEvents;
  readonly spawn: Spawn | undefined;
  /** An entry of the slot `stdioLaunchers`. */
  readonly launcher: ((name: string) => StdioLauncher) | undefined;
  readonly httpClient: HttpClientFactory | undefined;
  readonly tally: { processes: number };
  /** Lists of the description before this one; served until the backend has shown its own. */
  readonly inherited?: ReadonlyMap<string, BackendListing>;
  now(): number;
}

/** Keeps one backend for all who call it: whether it is there, the lists it has shown, the links to it. */
export class BackendController {
  readonly backend: Backend;
  readonly concurrencyLimit: ConcurrencyLimit;
  readonly #options: BackendControllerOptions;
  readonly #connector: Connector;
  readonly #pool: SessionPool;
  readonly #availability: Availability;
  readonly #lists: ListCache;
  readonly #reader: ListReader;
  readonly #owners: OwnerLists;
  readonly #changes: ListChanges;
  readonly #watches: ModernWatches;
  readonly #ownSessions: OwnSessions;
  readonly #stopping = new AbortController();
  #doubtedVerdict = false;
  /** Something of this backend could not be given to the call that it belongs to. */
  #isUnclear: boolean;

  constructor(options: BackendControllerOptions) {
    const { backend, authorizer, limits, log, now, events, inherited } = options;
    const { signal } = this.#stopping;
    const name = backend.name;
    const note = (what: string, cause: unknown) => this.#note(what, cause);
    this.#options = options;
    this.backend = backend;
    const perCaller = authorizer.perCaller === true;
    this.concurrencyLimit = new ConcurrencyLimit(name, {
      places: limits.inFlightPerBackend,
      placesPerCaller: limits.inFlightPerCaller,
      line: limits.queuePerBackend,
      linePerCaller: limits.queuePerCaller,
    });
    this.#connector = new Connector(options);
    this.#lists = new ListCache({
      limits,
      inherited,
      now,
      changed: (listClass) => events.listed(name, listClass),
      keepsCallers: () => this.#availability.status === 'unauthenticated',
    });
    this.#pool = new SessionPool({
      backend,
      connector: this.#connector,
      perCaller,
      limits,
      log,
      now,
      listChanged: (holder, kind) => this.#reader.changed(holder, [kind]),
      lost: (holder, cause) => this.#lost(holder, cause),
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
      looking: () => this.#availability.attempt,
      unchanged({ owner }, kinds) {
        // Lists that are a caller's own were read for this caller: they are the same for its clients too.
        if (!perCaller) owner?.sink?.listsChanged?.(name, kinds);
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
      backend: name,
      perCaller: limits.sessionsPerAskedCaller,
      isIdle: (owner, number) => {
        const link = this.#pool.find(owner, number)?.link;
        return link === undefined ? number === 0 : link.inFlight === 0;
      },
      link: (owner, number) => this.linkFor(owner, number),
      waiting: () =>
        log.info('calls of one caller wait for one another: each needs a session alone', { backend: name }),
    });
    this.#watches = new ModernWatches({ backend: name, limits, log, link: (owner) => this.linkFor(owner) });
    this.#availability = new Availability({
      backend: name,
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
      changed: () => events.changed({ name, change: 'status', state: this.state }),
      note,
    });
    this.#owners = new OwnerLists({
      perCaller,
      pool: this.#pool,
      availability: this.#availability,
      lists: this.#lists,
      reader: this.#reader,
      signal,
      note,
    });
  }

  /** Begins; resolves after the first attempt, whatever came of it. */
  start(): Promise<void> {
    if (this.#lists.byClass.size > 0) this.#lists.startGrace();
    return this.#availability.discover();
  }

  get state(): BackendState {
    return { backend: this.backend, ...this.#availability.facts };
  }

  get era(): Era | undefined {
    return this.#availability.era;
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
  linkFor(owner: SessionOwner, number = 0): JsonRpcConnection | Promise<JsonRpcConnection> {
    if (this.#availability.isAside) throw this.#availability.away();
    const link = this.#pool.find(owner, number)?.ready;
    if (link !== undefined) return link;
    if (this.#stopping.signal.aborted) throw stopped(this.backend.name);
    const { hopeful, attempt, startingSinceMs } = this.#availability;
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
  ownSessionsFor({ era, owner, logLevel }: ClientContext): OwnSessions | undefined {
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
    this.#availability.suspect();
  }

  /** Asks for a sign of life; see `Presence`. @throws LinkFailure · AUTH_STRATEGY_FAILED */
  async probe(timeoutMs: number, signal: AbortSignal): Promise<void> {
    await this.#availability.probe(timeoutMs, signal);
  }

  /** Takes a monitor's verdict. */
  judge(health: BackendHealth): void {
    this.#availability.judge(health);
  }

  /** The backend contradicts its era: asks again and resolves when the answer is there. */
  async doubtEra(): Promise<void> {
    this.#connector.forget();
    await this.#availability.renew();
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
  async prepareOwner(owner: SessionOwner): Promise<void> {
    await this.#owners.prepareOwner(owner);
  }

  /** What is known of the lists that this backend gives one caller only. */
  callerLists(owner: SessionOwner): CallerLists {
    return this.#owners.known(owner);
  }

  /** @throws GatewayFault · BackendError */
  async watch(uri: string, owner: SessionOwner): Promise<void> {
    const link = await this.linkFor(owner);
    if (link.era !== '2026-07-28') return this.#pool.holderFor(owner).watch(uri, owner);
    await this.#watches.add(uri, owner);
  }

  async unwatch(uri: string, owner: SessionOwner): Promise<void> {
    if (await this.#watches.remove(uri, owner.key)) return;
    const holder = this.#pool.find(owner);
    if (holder === undefined) this.#pool.forgetWatch(owner, uri);
    else await holder.unwatch(uri, owner.key);
  }

  /** `atLeast` never makes a session quieter than it is. */
  setLogLevel(owner: SessionOwner, level: string, atLeast = false, number = 0): void {
    this.#pool.setLevel(owner, level, atLeast, number);
  }

  rootsChanged(owner: SessionOwner): void {
    if (!this.#pool.sharesBase(owner)) this.#pool.find(owner)?.rootsChanged();
  }

  async release(ownerKey: string): Promise<void> {
    this.#watches.release(ownerKey);
    await this.#pool.release(ownerKey);
  }

  async stop(): Promise<void> {
    this.#stopping.abort(stopped(this.backend.name));
    this.#availability.stop();
    this.#lists.stop();
    this.#reader.stop();
    this.#changes.stop();
    this.#watches.stop();
    await this.#pool.close();
    await this.#availability.attempt;
    await this.#connector.close();
  }

  #openFor(owner: SessionOwner, number: number): JsonRpcConnection | Promise<JsonRpcConnection> {
    const { status } = this.#availability;
    if (status === 'unavailable' || status === 'unknown') throw this.#availability.away();
    const holder = this.#pool.holderFor(owner, number);
    return holder.era === undefined ? holder.take() : this.#openBeside(holder, owner, number);
  }

  /** A session of the client's own era, or the gateway's own link where the backend has none of that era or no room. */
  async #openBeside(holder: SessionHolder, owner: SessionOwner, number: number): Promise<JsonRpcConnection> {
    try {
      return await holder.take();
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
    const opened = (link: JsonRpcConnection) => {
      // Before the lists are read: a change in between must not go unheard.
      if (link.era !== '2026-07-28') return;
      this.#changes.listenTo(link).catch((cause: unknown) => this.#note('changes are not heard', cause));
    };
    return this.#reader.look(opened);
  }

  #found(listing: BackendListing): void {
    // A monitor that was just told may have changed its mind.
    if (this.#availability.isAside) this.#lists.startGrace();
    else this.#lists.endGrace();
    this.#lists.store('', listing);
    this.#reader.refreshStale();
    this.#watches.restore((cause) => this.#note('subscription not restored', cause));
  }

  #returned(): void {
    this.#lists.endGrace();
    // A look that is under way reads them anyway.
    const areThere = this.listings.has('') || this.#availability.attempt !== undefined;
    if (!areThere) this.#reader.changed(this.#pool.base, LIST_KINDS);
  }

  #lost(holder: SessionHolder, cause: LinkFailure): void {
    if (this.#stopping.signal.aborted || this.#availability.attempt !== undefined) return;
    if (holder === this.#pool.base) this.#availability.lost(cause);
    // A server that forgot one session has most likely forgotten all.
    else if (cause.category === 'session') this.#availability.suspect();
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
