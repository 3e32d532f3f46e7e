import type { Backend } from '../../contract/backend.ts';
import type { Caller } from '../../contract/caller.ts';
import type { SessionOwner } from '../../contract/client-context.ts';
import type { Log } from '../../extension/plugin.ts';
import type { Limits } from '../../limits.ts';
import type { ByteBudget } from '../../mcp/byte-budget.ts';
import { LIST_KINDS, type ListKind } from '../../mcp/methods.ts';
import type { Availability } from '../availability.ts';
import type { ReadLists } from '../availability-states.ts';
import { ConnectionFailure } from '../failure.ts';
import type { JsonRpcConnection } from '../sessions/json-rpc-connection.ts';
import type { SessionHolder } from '../sessions/session-holder.ts';
import type { SessionPool } from '../sessions/session-pool.ts';
import type { ListCache } from './list-cache.ts';
import { ListRefresh } from './list-refresh.ts';
import { type ListingAuthContext, mergeLists, readListing } from './listing.ts';

/** What reading lists needs. */
export interface ListReaderOptions {
  readonly backend: Backend;
  /** The lists of the backend depend on the caller. */
  readonly perCaller: boolean;
  readonly pool: SessionPool;
  readonly availability: Availability;
  readonly limits: Limits;
  readonly bytes: ByteBudget;
  readonly log: Log;
  /** Aborts when the backend is removed. */
  readonly signal: AbortSignal;
  /** A caller's credentials were refused: returns whether they are renewed. */
  credentialsRefused(caller: Caller): boolean;
  note(what: string, cause: unknown): void;
  now(): number;
}

/**
 * Reads the lists of one backend: through the gateway's own session, through an owner's session, and again after
 * changes.
 */
export class ListReader {
  readonly #options: ListReaderOptions;
  readonly #cache: ListCache;
  readonly #relists: ListRefresh;
  /** Old lists that are being read again, by class. */
  readonly #renewals = new Map<string, Promise<void>>();
  readonly #renewedAtMs = new Map<string, number>();

  constructor(options: ListReaderOptions, cache: ListCache) {
    this.#options = options;
    this.#cache = cache;
    this.#relists = new ListRefresh({
      coalesceMs: options.limits.coalesceMs,
      read: (holder, kinds) => this.#relist(holder, kinds),
      unchanged: ({ about }, kinds) => {
        // Lists that depend on the caller were read for this caller, so they are the same for its clients.
        if (!options.perCaller) about.owner?.sink?.listsChanged?.(options.backend.name, kinds);
      },
      failed: (cause) => options.note('changed lists were not read', cause),
    });
  }

  /** The base lists, with renewed credentials if they have expired. @throws GatewayFault · BackendError */
  connectAndReadLists(opened: Opened): Promise<ReadLists> {
    return this.#authorized(this.#options.pool.base, () => this.readBase(opened));
  }

  /** The base lists; `opened` gets the session before they are read. @throws GatewayFault · BackendError */
  async readBase(opened?: Opened): Promise<ReadLists> {
    const { base } = this.#options.pool;
    const connection = await base.connect();
    opened?.(connection);
    return { connection, listing: await readListing(connection, this.#authContext(base)) };
  }

  /** The lists of an owner's session; `opened` as above. @throws GatewayFault · BackendError */
  async readFor(owner: SessionOwner, opened: Opened): Promise<ReadLists> {
    const holder = this.#options.pool.holderFor(owner);
    return this.#authorized(holder, async () => {
      const connection = await holder.connect();
      opened(connection);
      return { connection, listing: await readListing(connection, this.#authContext(holder)) };
    });
  }

  /** Lists of the holder's class have changed: reads them soon, several changes at once. */
  changed(holder: SessionHolder, kinds: readonly ListKind[]): void {
    const { signal, pool } = this.#options;
    if (signal.aborted) return;
    // A session of another era announces changes of the lists that were read in the gateway's era.
    if (holder.about.era !== undefined) return this.#relists.add(pool.base, kinds, holder);
    if (holder !== pool.base && !this.#cache.byClass.has(holder.about.capabilityClass)) return;
    this.#relists.add(holder, kinds);
  }

  /** Reads outdated classes through any open session of theirs; without one `prepareOwner` reads them next time. */
  refreshStale(): void {
    for (const capabilityClass of this.#cache.stale) {
      const holder = this.#options.pool.livingOf(capabilityClass);
      if (holder !== undefined) this.changed(holder, LIST_KINDS);
    }
  }

  /**
   * Reads old lists again, now, at most once within `limits.listTtlMs`. Resolves when done; `undefined` when nothing is read.
   * Never rejects: lists that cannot be read stay.
   */
  renew(holder: SessionHolder, kinds: readonly ListKind[]): Promise<void> | undefined {
    const { signal, limits, note, now } = this.#options;
    const { capabilityClass } = holder.about;
    const running = this.#renewals.get(capabilityClass);
    const triedMs = this.#renewedAtMs.get(capabilityClass);
    const isTooSoon = triedMs !== undefined && now() - triedMs < limits.listTtlMs;
    if (running !== undefined || isTooSoon || signal.aborted) return running;
    this.#renewedAtMs.set(capabilityClass, now());
    const renewal = this.#relist(holder, new Set(kinds))
      .then(
        () => undefined,
        (cause: unknown) => (signal.aborted ? undefined : note('old lists were not read again', cause)),
      )
      .finally(() => this.#renewals.delete(capabilityClass));
    this.#renewals.set(capabilityClass, renewal);
    return renewal;
  }

  stop(): void {
    this.#relists.stop();
  }

  async #relist(holder: SessionHolder, kinds: ReadonlySet<ListKind>): Promise<boolean> {
    const { pool, availability } = this.#options;
    // The running attempt reads everything; later changes are read afterwards.
    if (holder === pool.base) await availability.attempt;
    const { capabilityClass } = holder.about;
    const wanted = this.#cache.byClass.has(capabilityClass) ? kinds : new Set(LIST_KINDS);
    const read = await this.#authorized(holder, async () =>
      readListing(await holder.connect(), this.#authContext(holder), wanted),
    );
    // Other lists may have been read meanwhile, so only the requested ones are replaced.
    const before = this.#cache.byClass.get(capabilityClass);
    return this.#cache.store(capabilityClass, before === undefined ? read : mergeLists(before, read, wanted));
  }

  /** Runs an operation that may fail with 401 for expired credentials; once more when they are renewed. */
  async #authorized<T>(holder: SessionHolder, run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (cause) {
      const isRefused = cause instanceof ConnectionFailure && cause.httpStatus === 401;
      if (!isRefused || !this.#options.credentialsRefused(holder.caller)) throw cause;
      holder.renew();
      return run();
    }
  }

  #authContext(holder: SessionHolder): ListingAuthContext {
    const { backend, limits, bytes, log, signal, now } = this.#options;
    const { purpose, capabilities } = holder.about;
    const mostBytes = Math.min(limits.resultBytes, Math.floor(bytes.now.most / LIST_PART));
    return { backend, caller: holder.caller, purpose, capabilities, limits, mostBytes, log, signal, now };
  }
}

/** One list may take this part of the memory budget, because it stays in memory and each backend has four. */
const LIST_PART = 8;

/** Gets the session before anything is read through it. */
type Opened = (connection: JsonRpcConnection) => void;
