import type { SessionOwner } from '../../contract/client-context.ts';
import { UserActionRequired } from '../../errors.ts';
import { listClassOf, sharedClass } from '../../mcp/capabilities.ts';
import { LIST_KINDS, type ListKind } from '../../mcp/methods.ts';
import type { ReadLists } from '../availability-states.ts';
import type { BackendListing, CallerLists } from '../backend-manager.ts';
import { categoryOf } from '../failure.ts';
import type { JsonRpcConnection } from '../sessions/json-rpc-connection.ts';
import { oldLists } from './list-age.ts';
import { ListCache, type ListCacheOptions } from './list-cache.ts';
import { ListChanges } from './list-changes.ts';
import { ListReader, type ListReaderOptions } from './list-reader.ts';

/** What the lists of one backend are made with. */
export type BackendListsOptions = ListReaderOptions & ListCacheOptions;

/**
 * The lists of one backend: reads them, reads them again after changes, and stores them by class. Lists of owners may differ from
 * those of the gateway itself: per capability class, or per caller.
 */
export class BackendLists {
  readonly cache: ListCache;
  readonly reader: ListReader;
  readonly changes: ListChanges;
  readonly #options: BackendListsOptions;
  readonly #preparations = new Map<string, Promise<void>>();
  /** Classes whose credentials changed while their lists were read: they are read once more. */
  readonly #changed = new Set<string>();

  constructor(options: BackendListsOptions) {
    this.#options = options;
    this.cache = new ListCache(options);
    this.reader = new ListReader(options, this.cache);
    this.changes = new ListChanges(options, (kinds) => this.reader.changed(options.pool.base, kinds));
  }

  /** Opens the gateway's own session and reads the base lists through it. @throws GatewayFault · BackendError */
  connectAndReadLists(): Promise<ReadLists> {
    const opened = (connection: JsonRpcConnection) => {
      // Before the lists are read, so that no change in between is missed.
      if (connection.era !== '2026-07-28') return;
      this.changes
        .listenTo(connection)
        .catch((cause: unknown) => this.#options.note('change notifications are not received', cause));
    };
    return this.reader.connectAndReadLists(opened);
  }

  /** Reads the base lists again and resolves when done. @throws GatewayFault · BackendError */
  async relistNow(): Promise<void> {
    const { listing } = await this.reader.readBase();
    this.cache.store('', listing);
  }

  /** The backend is ready, and these are its base lists. */
  becameReady(listing: BackendListing): void {
    // The monitor may change its decision after it is notified.
    if (this.#options.availability.isExcluded) this.cache.startGrace();
    else this.cache.endGrace();
    this.cache.store('', listing);
    this.reader.refreshStale();
  }

  /** Calls can be sent again. */
  callsResumed(): void {
    this.cache.endGrace();
    // A running attempt reads them anyway.
    const areThere = this.cache.byClass.has('') || this.#options.availability.attempt !== undefined;
    if (!areThere) this.reader.changed(this.#options.pool.base, LIST_KINDS);
  }

  /** Makes sure that an owner's class has its own lists where they may differ. Never rejects. */
  async prepareOwner(owner: SessionOwner): Promise<void> {
    const { availability, signal } = this.#options;
    const { firstAttempt } = availability;
    if (firstAttempt !== undefined) await firstAttempt;
    if (signal.aborted || availability.isExcluded || !this.#mayDiffer(owner)) return;
    const listClass = this.#classOf(owner);
    if (this.cache.isFresh(listClass) && this.known(owner) === 'known') return;
    let running = this.#preparations.get(listClass);
    if (running === undefined) {
      running = this.#readFor(owner, listClass).finally(() => this.#preparations.delete(listClass));
      this.#preparations.set(listClass, running);
    }
    await running;
  }

  /** State of the lists that the backend gives to one caller only. */
  known(owner: SessionOwner): CallerLists {
    const { perCaller, availability } = this.#options;
    if (!perCaller || availability.isExcluded || !this.#mayDiffer(owner)) return 'known';
    // Changes in lists of a single caller are announced only on a session of that caller.
    return this.cache.knownOf(listClassOf(owner), availability.era === '2026-07-28');
  }

  /** Whether lists that this owner would see are being read, or have to be. */
  isPending(owner: SessionOwner): boolean {
    if (this.#options.availability.firstAttempt !== undefined) return true;
    return this.#preparations.has(this.#classOf(owner)) || this.known(owner) === 'missing';
  }

  /** Why a caller's class has no lists, although the backend is available; `undefined` when it has some. */
  whyUnread(listClass: string): string | undefined {
    const { perCaller, availability } = this.#options;
    const { status, isExcluded } = availability;
    const isThere = status === 'ready' || status === 'unauthenticated';
    if (!perCaller || !isThere || isExcluded || this.cache.of(listClass) !== undefined) return undefined;
    if (this.cache.requiredOf(listClass) !== undefined) return undefined;
    const category = this.#preparations.has(listClass) ? undefined : this.cache.failureOf(listClass);
    return category === undefined ? BEING_READ : `its lists could not be read for this caller: ${category}`;
  }

  /** What a caller has to do before the backend gives it lists. */
  requiredOf(listClass: string): UserActionRequired | undefined {
    return this.#options.perCaller ? this.cache.requiredOf(listClass) : undefined;
  }

  /** The backend may give the owner's caller other lists now. */
  credentialsChanged(owner: SessionOwner): void {
    if (!this.#options.perCaller) return;
    const listClass = listClassOf(owner);
    if (this.#preparations.has(listClass)) this.#changed.add(listClass);
    this.cache.credentialsChanged(listClass);
  }

  /**
   * Reads lists again whose changes the backend does not announce and that are too old; those of single callers are read when
   * the caller comes. Resolves when done; `undefined` when none is read. Never rejects.
   */
  renewOld(): Promise<unknown> | undefined {
    const { availability, pool, limits, now } = this.#options;
    if (availability.status !== 'ready' || availability.isExcluded) return undefined;
    let renewals: Promise<void>[] | undefined;
    for (const [listClass, listing] of this.cache.byClass) {
      if (sharedClass(listClass) !== listClass) continue;
      const isHeard = listing.era === '2026-07-28' ? (kind: ListKind) => this.changes.hears(kind) : undefined;
      const kinds = oldLists(listing, now(), limits, isHeard);
      const holder = listClass === '' ? pool.base : pool.livingOf(listClass);
      const renewal = kinds.length === 0 || holder === undefined ? undefined : this.reader.renew(holder, kinds);
      if (renewal !== undefined) renewals = [...(renewals ?? []), renewal];
    }
    return renewals === undefined ? undefined : Promise.all(renewals);
  }

  stop(): void {
    this.cache.stop();
    this.reader.stop();
    this.changes.stop();
  }

  async #readFor(owner: SessionOwner, listClass: string): Promise<void> {
    do {
      await this.#readOnce(owner, listClass);
      // What failed was perhaps tried before the change.
      if (this.#changed.has(listClass)) this.cache.credentialsChanged(listClass);
    } while (this.#changed.delete(listClass) && !this.#options.signal.aborted);
  }

  async #readOnce(owner: SessionOwner, listClass: string): Promise<void> {
    const { availability, note } = this.#options;
    try {
      const { listing } = await this.reader.readFor(owner, ({ era }) => availability.send({ is: 'era-seen', era }));
      this.cache.store(listClass, listing);
    } catch (cause) {
      const isWaiting = cause instanceof UserActionRequired;
      this.cache.missed(listClass, categoryOf(cause), isWaiting ? cause : undefined);
      if (!isWaiting) note('lists of a capability class were not read', cause);
    }
  }

  #classOf(owner: SessionOwner): string {
    return this.#options.perCaller ? listClassOf(owner) : owner.capabilityClass;
  }

  #mayDiffer(owner: SessionOwner): boolean {
    const { availability, pool } = this.#options;
    if (availability.status === 'unauthenticated') return true;
    return availability.status === 'ready' && owner.capabilityClass !== '' && !pool.sharesLists(owner);
  }
}

const BEING_READ = 'its lists for this caller are being read';
