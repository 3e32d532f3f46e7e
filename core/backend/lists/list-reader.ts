import type { Backend } from '../../contract/backend.ts';
import type { Caller } from '../../contract/caller.ts';
import type { SessionOwner } from '../../contract/client-context.ts';
import type { Log } from '../../extension/plugin.ts';
import type { Limits } from '../../limits.ts';
import { LIST_KINDS, type ListKind } from '../../mcp/methods.ts';
import type { BackendListing } from '../backend-manager.ts';
import { LinkFailure } from '../failure.ts';
import type { JsonRpcConnection } from '../sessions/json-rpc-connection.ts';
import type { SessionHolder } from '../sessions/reopen-session.ts';
import type { SessionPool } from '../sessions/session-pool.ts';
import type { ListCache } from './list-cache.ts';
import { type ListingAuthContext, mergeLists, readListing } from './listing.ts';
import { Relists } from './refresh.ts';

/** What reading lists needs. */
export interface ListReaderOptions {
  readonly backend: Backend;
  readonly pool: SessionPool;
  readonly lists: ListCache;
  readonly limits: Limits;
  readonly log: Log;
  /** Aborts when the backend is not kept any more. */
  readonly signal: AbortSignal;
  /** A caller's credentials were refused: says whether they are made anew. */
  credentialsRefused(caller: Caller): boolean;
  /** A look at the backend that is under way: it reads the base lists itself. Never rejects. */
  looking(): Promise<void> | undefined;
  /** A seat's backend told of a change, and the lists of its class are what they were. */
  unchanged(holder: SessionHolder, kinds: readonly ListKind[]): void;
  note(what: string, cause: unknown): void;
}

/** A link, and the lists read over it. */
export interface ReadLists {
  readonly link: JsonRpcConnection;
  readonly listing: BackendListing;
}

/** Reads the lists of one backend through its links: the gateway's own, an owner's, and again what has changed. */
export class ListReader {
  readonly #options: ListReaderOptions;
  readonly #relists: Relists;

  constructor(options: ListReaderOptions) {
    this.#options = options;
    this.#relists = new Relists({
      coalesceMs: options.limits.coalesceMs,
      read: (holder, kinds) => this.#relist(holder, kinds),
      unchanged: options.unchanged,
      failed: (cause) => options.note('changed lists not read', cause),
    });
  }

  /** The base lists, with credentials made anew where they have gone stale. @throws GatewayFault · BackendError */
  look(opened: Opened): Promise<ReadLists> {
    return this.#authorized(this.#options.pool.base, () => this.readBase(opened));
  }

  /** The base lists; `opened` is told of the link before they are read. @throws GatewayFault · BackendError */
  async readBase(opened?: Opened): Promise<ReadLists> {
    const { base } = this.#options.pool;
    const link = await base.take();
    opened?.(link);
    return { link, listing: await readListing(link, this.#authContext(base)) };
  }

  /** The lists as the link of an owner shows them; `opened` as above. @throws GatewayFault · BackendError */
  async readFor(owner: SessionOwner, opened: Opened): Promise<ReadLists> {
    const holder = this.#options.pool.holderFor(owner);
    return this.#authorized(holder, async () => {
      const link = await holder.take();
      opened(link);
      return { link, listing: await readListing(link, this.#authContext(holder)) };
    });
  }

  /** Lists of the seat's class have changed: reads them soon, many changes as one. */
  changed(holder: SessionHolder, kinds: readonly ListKind[]): void {
    const { signal, pool, lists } = this.#options;
    if (signal.aborted) return;
    // A session beside the gateway's own era speaks of the lists that were read in that era.
    if (holder.era !== undefined) return this.#relists.add(pool.base, kinds, holder);
    if (holder !== pool.base && !lists.byClass.has(holder.capabilityClass)) return;
    this.#relists.add(holder, kinds);
  }

  /** Reads classes that may be out of date through any living link of theirs; without one the next welcome does. */
  refreshStale(): void {
    const { pool, lists } = this.#options;
    for (const capabilityClass of lists.stale) {
      const holder = pool.livingOf(capabilityClass);
      if (holder !== undefined) this.changed(holder, LIST_KINDS);
    }
  }

  stop(): void {
    this.#relists.stop();
  }

  async #relist(holder: SessionHolder, kinds: ReadonlySet<ListKind>): Promise<boolean> {
    const { pool, lists, looking } = this.#options;
    // The look that is under way reads everything; what it misses comes after it.
    if (holder === pool.base) await looking();
    const { capabilityClass } = holder;
    const wanted = lists.byClass.has(capabilityClass) ? kinds : new Set(LIST_KINDS);
    const read = await this.#authorized(holder, async () =>
      readListing(await holder.take(), this.#authContext(holder), wanted),
    );
    // Other lists may have been read meanwhile: only what was asked for is replaced.
    const before = lists.byClass.get(capabilityClass);
    return lists.store(capabilityClass, before === undefined ? read : mergeLists(before, read, wanted));
  }

  /** Runs what a backend may refuse by 401 for a credential that has gone stale: once more when it is made anew. */
  async #authorized<T>(holder: SessionHolder, run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (cause) {
      const isRefused = cause instanceof LinkFailure && cause.httpStatus === 401;
      if (!isRefused || !this.#options.credentialsRefused(holder.caller)) throw cause;
      holder.renew();
      return run();
    }
  }

  #authContext(holder: SessionHolder): ListingAuthContext {
    const { backend, limits, log, signal } = this.#options;
    const { caller, purpose, capabilities } = holder;
    return { backend, caller, purpose, capabilities, limits, log, signal };
  }
}

/** Is told of the link before anything is read over it. */
type Opened = (link: JsonRpcConnection) => void;
