import type { Backend } from '../../contract/backend.ts';
import type { Caller } from '../../contract/caller.ts';
import type { SessionOwner } from '../../contract/client-context.ts';
import type { Era } from '../../contract/era.ts';
import type { UserActionRequired } from '../../errors.ts';
import type { Log } from '../../extension/plugin.ts';
import type { Limits } from '../../limits.ts';
import type { ByteBudget } from '../../mcp/byte-budget.ts';
import { sharedClass } from '../../mcp/capabilities.ts';
import { LIST_KINDS, type ListKind } from '../../mcp/methods.ts';
import type { Availability } from '../availability.ts';
import type { BackendListing, CallerLists } from '../backend-manager.ts';
import type { JsonRpcConnection } from '../sessions/json-rpc-connection.ts';
import type { SessionHolder } from '../sessions/session-holder.ts';
import type { SessionPool } from '../sessions/session-pool.ts';
import { oldLists } from './list-age.ts';
import { ListCache } from './list-cache.ts';
import { ListChanges } from './list-changes.ts';
import { ListReader, type ReadLists } from './list-reader.ts';
import { OwnerLists } from './owner-lists.ts';

/** What the lists of one backend are made with. */
export interface BackendListsOptions {
  readonly backend: Backend;
  /** The lists of the backend depend on the caller. */
  readonly perCaller: boolean;
  readonly pool: SessionPool;
  readonly availability: Availability;
  readonly limits: Limits;
  readonly bytes: ByteBudget;
  readonly log: Log;
  /** Lists of the previous description; served until the backend has sent its own. */
  readonly inherited: ReadonlyMap<string, BackendListing> | undefined;
  /** Aborts when the backend is removed. */
  readonly signal: AbortSignal;
  now(): number;
  /** The lists of a class were read, changed or withdrawn. */
  changed(listClass: string): void;
  /** A caller's credentials were refused: returns whether they are renewed. */
  credentialsRefused(caller: Caller): boolean;
  note(what: string, cause: unknown): void;
}

/** The lists of one backend: reads them, reads them again after changes, and stores them by class. */
export class BackendLists {
  readonly #options: BackendListsOptions;
  readonly #cache: ListCache;
  readonly #reader: ListReader;
  readonly #changes: ListChanges;
  readonly #owners: OwnerLists;

  constructor(options: BackendListsOptions) {
    const { backend, perCaller, pool, availability, limits, bytes, log, inherited, signal, now, changed, note } =
      options;
    this.#options = options;
    this.#cache = new ListCache({
      limits,
      inherited,
      now,
      changed,
      keepsCallers: () => availability.status === 'unauthenticated',
    });
    this.#reader = new ListReader({
      backend,
      pool,
      lists: this.#cache,
      limits,
      bytes,
      log,
      signal,
      credentialsRefused: options.credentialsRefused,
      now,
      looking: () => availability.attempt,
      unchanged({ owner }, kinds) {
        // Lists that depend on the caller were read for this caller, so they are the same for its clients.
        if (!perCaller) owner?.sink?.listsChanged?.(backend.name, kinds);
      },
      note,
    });
    const { base } = pool;
    this.#changes = new ListChanges({ backend, base, limits, log, changed: (kinds) => this.changed(base, kinds) });
    this.#owners = new OwnerLists({
      perCaller,
      pool,
      availability,
      lists: this.#cache,
      reader: this.#reader,
      signal,
      note,
    });
  }

  get byClass(): ReadonlyMap<string, BackendListing> {
    return this.#cache.byClass;
  }

  /** The lists of a class: the caller's own, or those of its capability class, or those of the base class. */
  of(listClass: string): BackendListing | undefined {
    return this.#cache.of(listClass);
  }

  /** Opens the gateway's own session and reads the base lists through it. @throws GatewayFault · BackendError */
  connectAndReadLists(): Promise<ReadLists> {
    const opened = (connection: JsonRpcConnection) => {
      // Before the lists are read, so that no change in between is missed.
      if (connection.era !== '2026-07-28') return;
      this.#changes
        .listenTo(connection)
        .catch((cause: unknown) => this.#options.note('change notifications are not received', cause));
    };
    return this.#reader.connectAndReadLists(opened);
  }

  /** Reads the base lists again and resolves when done. @throws GatewayFault · BackendError */
  async relistNow(): Promise<void> {
    const { listing } = await this.#reader.readBase();
    this.#cache.store('', listing);
  }

  /** The backend was found again, with this era: all lists except the base lists, which are read next, are outdated. */
  outdate(era: Era): void {
    this.#cache.outdate(era);
  }

  /** The backend is ready, and these are its base lists. */
  becameReady(listing: BackendListing): void {
    // The monitor may change its decision after it is notified.
    if (this.#options.availability.isExcluded) this.#cache.startGrace();
    else this.#cache.endGrace();
    this.#cache.store('', listing);
    this.#reader.refreshStale();
  }

  /** Calls can be sent again. */
  callsResumed(): void {
    this.#cache.endGrace();
    // A running attempt reads them anyway.
    const areThere = this.byClass.has('') || this.#options.availability.attempt !== undefined;
    if (!areThere) this.changed(this.#options.pool.base, LIST_KINDS);
  }

  /** Withdraws the lists after the grace period, because no call can reach the backend. */
  startGrace(): void {
    this.#cache.startGrace();
  }

  /** Lists of the holder's class have changed: reads them soon, several changes at once. */
  changed(holder: SessionHolder, kinds: readonly ListKind[]): void {
    this.#reader.changed(holder, kinds);
  }

  /** Makes sure that an owner's capability class has its own lists where they may differ. Never rejects. */
  prepareOwner(owner: SessionOwner): Promise<void> {
    return this.#owners.prepareOwner(owner);
  }

  /** State of the lists that the backend gives to one caller only. */
  known(owner: SessionOwner): CallerLists {
    return this.#owners.known(owner);
  }

  /**
   * Reads lists again whose changes the backend does not announce and that are too old; those of single callers are read when
   * the caller comes. Resolves when done; `undefined` when none is read. Never rejects.
   */
  renewOld(): Promise<unknown> | undefined {
    const { availability, pool, limits, now } = this.#options;
    if (availability.status !== 'ready' || availability.isExcluded) return undefined;
    let renewals: Promise<void>[] | undefined;
    for (const [listClass, listing] of this.byClass) {
      if (sharedClass(listClass) !== listClass) continue;
      const isHeard = listing.era === '2026-07-28' ? (kind: ListKind) => this.#changes.hears(kind) : undefined;
      const kinds = oldLists(listing, now(), limits, isHeard);
      const holder = listClass === '' ? pool.base : pool.livingOf(listClass);
      const renewal = kinds.length === 0 || holder === undefined ? undefined : this.#reader.renew(holder, kinds);
      if (renewal !== undefined) renewals = [...(renewals ?? []), renewal];
    }
    return renewals === undefined ? undefined : Promise.all(renewals);
  }

  /** Whether lists that this owner would see are being read, or have to be. */
  isPending(owner: SessionOwner): boolean {
    return this.#owners.isPending(owner);
  }

  /** Why a caller's class has no lists, although the backend is available; `undefined` when it has some. */
  whyUnread(listClass: string): string | undefined {
    return this.#owners.whyUnread(listClass);
  }

  /** The backend may give the owner's caller other lists now. */
  credentialsChanged(owner: SessionOwner): void {
    this.#owners.credentialsChanged(owner);
  }

  /** What a caller has to do before the backend gives it lists. */
  requiredOf(listClass: string): UserActionRequired | undefined {
    return this.#options.perCaller ? this.#cache.requiredOf(listClass) : undefined;
  }

  /** Ends the subscription to list changes. */
  stopListening(): void {
    this.#changes.stop();
  }

  stop(): void {
    this.#cache.stop();
    this.#reader.stop();
    this.#changes.stop();
  }
}
