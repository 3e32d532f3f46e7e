import type { Backend, BackendState } from '../contract/backend.ts';
import type { Call } from '../contract/call.ts';
import type { Caller } from '../contract/caller.ts';
import type { ClientContext, SessionOwner } from '../contract/client-context.ts';
import type { ListStore } from '../contract/list-store.ts';
import { explainCause } from '../errors.ts';
import { shareOfCall } from '../mcp/shares.ts';
import { Availability, type OuterEffects } from './availability.ts';
import type { BackendListing, BackendManagerEvents } from './backend-manager.ts';
import { ConcurrencyLimit } from './concurrency-limit.ts';
import { ConnectionFailure, categoryOf, stopped } from './failure.ts';
import { BackendLists } from './lists/backend-lists.ts';
import { storableListing, storedLists } from './lists/stored-listing.ts';
import { Connector, type ConnectorOptions } from './sessions/connector.ts';
import { ExclusiveSessions, LoggingCalls } from './sessions/exclusive-sessions.ts';
import type { JsonRpcConnection } from './sessions/json-rpc-connection.ts';
import { type OpenForOwnerOptions, openForOwner } from './sessions/open-for-owner.ts';
import { SessionPool } from './sessions/session-pool.ts';
import { ModernWatches } from './subscriptions.ts';

/** What one backend controller is made with. */
export interface BackendControllerOptions extends ConnectorOptions {
  readonly events: BackendManagerEvents;
  /** Lists of the previous description; served until the backend has sent its own. */
  readonly inherited?: ReadonlyMap<string, BackendListing>;
  /** Lists of an earlier run, served until the backend has sent its own; not used where credentials are those of callers. */
  readonly listStore?: ListStore | undefined;
}

/** Manages one backend for all callers: its availability, its lists and its sessions. */
export class BackendController {
  readonly backend: Backend;
  readonly concurrencyLimit: ConcurrencyLimit;
  readonly availability: Availability;
  readonly lists: BackendLists;
  readonly #options: BackendControllerOptions;
  readonly #connector: Connector;
  readonly #pool: SessionPool;
  readonly #opening: OpenForOwnerOptions;
  readonly #watches: ModernWatches;
  readonly #ownSessions: ExclusiveSessions;
  readonly #loggingCalls: LoggingCalls;
  readonly #stopping = new AbortController();
  #doubtedEra = false;
  /** A message of this backend could not be assigned to one of several calls. */
  #hasAmbiguousMessages: boolean;

  constructor(options: BackendControllerOptions) {
    const { backend, credentials, limits, log, now, events } = options;
    const { signal } = this.#stopping;
    const name = backend.name;
    const note = (what: string, cause: unknown) => this.#note(what, cause);
    this.#options = options;
    this.backend = backend;
    const perCaller = credentials.authorizer.perCaller === true;
    const store = perCaller ? undefined : options.listStore;
    this.concurrencyLimit = new ConcurrencyLimit(name, {
      places: limits.inFlightPerBackend,
      placesPerCaller: limits.inFlightPerCaller,
      line: limits.queuePerBackend,
      linePerCaller: limits.queuePerCaller,
    });
    this.#connector = new Connector(options);
    this.#pool = new SessionPool({
      backend,
      connector: this.#connector,
      perCaller,
      limits,
      log,
      now,
      listChanged: (holder, kind) => this.lists.reader.changed(holder, [kind]),
      lost: (holder, cause) => this.availability.send({ is: 'lost', cause, isOwn: holder === this.#pool.base }),
      ambiguousMessage: () => {
        this.#hasAmbiguousMessages = true;
      },
    });
    this.availability = new Availability({
      backend: name,
      connector: this.#connector,
      base: this.#pool.base,
      isProgram: backend.transport === 'stdio',
      now,
      connect: () => this.lists.connectAndReadLists(),
      effects: this.#effects(note),
    });
    const shared = {
      backend,
      perCaller,
      pool: this.#pool,
      availability: this.availability,
      limits,
      log,
      signal,
      now,
      note,
      connection: (owner: SessionOwner, number = 0) => this.connectionFor(owner, number),
    };
    this.lists = new BackendLists({
      ...shared,
      bytes: options.bytes,
      inherited: options.inherited ?? storedLists(store, backend, log),
      changed: (listClass) => {
        events.listed(name, listClass);
        const read = listClass === '' ? this.lists.cache.byClass.get('') : undefined;
        if (read !== undefined) store?.write(backend, storableListing(read));
      },
      credentialsRefused: (caller) => this.credentialsRefused(caller),
    });
    this.#opening = shared;
    this.#hasAmbiguousMessages = backend.transport !== 'streamable-http';
    this.#ownSessions = new ExclusiveSessions(shared);
    this.#loggingCalls = new LoggingCalls(shared);
    this.#watches = new ModernWatches(shared);
  }

  /** Starts; resolves after the first attempt, successful or not. */
  start(): Promise<void> {
    if (!this.servesEarlierRun) {
      if (this.lists.cache.byClass.size > 0) this.lists.cache.startGrace();
      return this.availability.discover();
    }
    // The first start of a program may take minutes, because it is installed.
    return this.availability.discover().then(() => {
      if (this.servesEarlierRun) this.lists.cache.startGrace();
    });
  }

  /** Its lists are those of an earlier run: it has not answered yet. */
  get servesEarlierRun(): boolean {
    return this.lists.cache.byClass.get('')?.isOfEarlierRun === true;
  }

  get state(): BackendState {
    const { facts } = this.availability;
    return {
      backend: this.backend,
      ...facts,
      ...(this.#isRefusalWithoutCaller(facts.cause?.category) ? { needsCaller: true as const } : {}),
    };
  }

  countConnections(): number {
    return this.#pool.countConnections();
  }

  /**
   * The session for an owner's requests; a promise while it is being opened.
   * @throws GatewayFault at once when the backend is unavailable or has been starting for a while
   */
  connectionFor(owner: SessionOwner, number = 0): JsonRpcConnection | Promise<JsonRpcConnection> {
    if (this.availability.isExcluded) throw this.availability.unavailableError();
    const connection = this.#pool.find(owner, number)?.ready;
    if (connection !== undefined) return connection;
    if (this.#stopping.signal.aborted) throw stopped(this.backend.name);
    return openForOwner(this.#opening, owner, number);
  }

  /** How many milliseconds a program may take to start for a session; 0 for a backend that is not a program. */
  get startMs(): number {
    return this.#connector.startMs;
  }

  /**
   * Where a call gets a session of its own when requests and log messages of the backend could not be assigned to calls
   * otherwise; `undefined` when it may share a session.
   *
   * Clients of 2025-11-25 have sessions of their own, in which any call may receive requests. Clients of 2026-07-28 get
   * requests in the response of one call, so it must be known which call.
   */
  ownSessionsFor({ era, owner, logLevel }: ClientContext): ExclusiveSessions | undefined {
    if (!this.#hasAmbiguousMessages || era !== '2026-07-28' || !this.#pool.isOwn(owner)) return undefined;
    const mayBeTold = owner.capabilityClass !== '' || logLevel !== undefined;
    return mayBeTold || this.#ownSessions.isSharedHeld(owner) ? this.#ownSessions : undefined;
  }

  /**
   * Where a call runs that named a log level, when the backend sends log messages that do not say which call they belong to;
   * `undefined` for the session `shared`.
   */
  placeForLogs(shared: JsonRpcConnection, call: Call) {
    const { client } = call;
    if (client.logLevel === undefined || this.backend.transport !== 'stdio') return undefined;
    if (shared.era !== '2026-07-28' || shared.hello.capabilities.logging === undefined) return undefined;
    // A client with a session hears the messages of all its calls, and of no other client of the same network.
    return this.#loggingCalls.enter(client.owner, client.era === '2025-11-25' ? client.owner.key : shareOfCall(call));
  }

  /** The backend answered 401: returns whether the credentials are renewed, so that the request may be sent again. */
  credentialsRefused(caller: Caller): boolean {
    return this.#options.credentials.authorizer.refused?.(this.backend, caller) === true;
  }

  /** The backend answered 403: the failure, with what the user has to do if the strategy knows it. */
  async forbidden(cause: ConnectionFailure): Promise<ConnectionFailure> {
    const { credentials } = this.#options;
    if (cause.challenge === undefined) return cause;
    const advice = await credentials.authorizer.forbidden?.(this.backend, cause.challenge);
    if (advice === undefined) return cause;
    const facts = { notRun: cause.notRun, status: 403 };
    return new ConnectionFailure(this.backend.name, cause.category, `refused the request: ${advice}`, facts);
  }

  /** The backend contradicts its era: detects it again and resolves when done. */
  async doubtEra(): Promise<void> {
    this.#connector.forgetEra();
    await this.availability.renew();
  }

  /** A modern backend answered in a legacy way. Checked once, because some servers only omit a member. */
  noteSloppyResult(): void {
    if (this.#doubtedEra) return;
    this.#doubtedEra = true;
    this.#options.log.warn('modern backend answered without resultType', { backend: this.backend.name });
    void this.doubtEra();
  }

  /** @throws GatewayFault · BackendError */
  async watch(uri: string, owner: SessionOwner): Promise<void> {
    const connection = await this.connectionFor(owner);
    if (connection.era !== '2026-07-28') return this.#pool.holderFor(owner).watch(uri, owner);
    await this.#watches.add(uri, owner);
  }

  async unwatch(uri: string, owner: SessionOwner): Promise<void> {
    if (await this.#watches.remove(uri, owner.key)) return;
    const holder = this.#pool.find(owner);
    if (holder === undefined) this.#pool.forgetWatch(owner, uri);
    else await holder.unwatch(uri, owner.key);
  }

  /** `atLeast` only makes a session more verbose. */
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
    this.availability.send({ is: 'removed' });
    this.#stopping.abort(stopped(this.backend.name));
    this.lists.stop();
    this.#watches.stop();
    await this.#pool.close();
    await this.availability.attempt;
    await this.#connector.close();
  }

  /** Does what a change of the availability asks for. */
  #effects(note: (what: string, cause: unknown) => void): OuterEffects {
    const { name } = this.backend;
    return {
      'renew-session': () => this.#pool.base.renew(),
      'stop-listening': () => this.lists.changes.stop(),
      'close-pooled': () => this.#connector.closePooledConnections(),
      'outdate-lists': ({ era }) => {
        this.#pool.forgetModernOnly();
        this.lists.cache.outdate(era);
      },
      'serve-lists': ({ read }) => {
        this.lists.becameReady(read.listing);
        this.#watches.restore((cause) => note('subscription not restored', cause));
      },
      'resume-calls': () => this.lists.callsResumed(),
      'stop-calls': () => this.lists.cache.startGrace(),
      announce: () => this.#options.events.changed({ name, change: 'status', state: this.state }),
      note: ({ what, cause }) => {
        if (!this.#isRefusalWithoutCaller(categoryOf(cause))) note(what, cause);
      },
    };
  }

  /** The gateway itself has no credentials for a backend that gets those of callers. */
  #isRefusalWithoutCaller(category: string | undefined): boolean {
    return category === 'unauthenticated' && this.#options.credentials.authorizer.perCaller === true;
  }

  /** Errors caused by a stop are not logged as failures. */
  #note(what: string, cause: unknown): void {
    const level = this.#stopping.signal.aborted ? 'debug' : 'warn';
    this.#options.log[level](what, { backend: this.backend.name, cause: explainCause(cause) });
  }
}
