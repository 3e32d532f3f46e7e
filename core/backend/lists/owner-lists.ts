import type { SessionOwner } from '../../contract/client-context.ts';
import { listClassOf } from '../../mcp/capabilities.ts';
import type { Availability } from '../availability.ts';
import type { CallerLists } from '../backend-manager.ts';
import type { SessionPool } from '../sessions/session-pool.ts';
import type { ListCache } from './list-cache.ts';
import type { ListReader } from './list-reader.ts';

/** What the lists of owners are read with. */
export interface OwnerListsOptions {
  /** What the backend shows depends on the caller. */
  readonly perCaller: boolean;
  readonly pool: SessionPool;
  readonly availability: Availability;
  readonly lists: ListCache;
  readonly reader: ListReader;
  /** Aborts when the backend is not kept any more. */
  readonly signal: AbortSignal;
  note(what: string, cause: unknown): void;
}

/** The lists of those who may be shown something else than the gateway itself: per capability class, or per caller. */
export class OwnerLists {
  readonly #options: OwnerListsOptions;
  readonly #preparations = new Map<string, Promise<void>>();

  constructor(options: OwnerListsOptions) {
    this.#options = options;
  }

  /** Sees that an owner's class has lists of its own where it may differ. Never rejects. */
  async prepareOwner(owner: SessionOwner): Promise<void> {
    const { availability, lists, signal } = this.#options;
    const { hopeful } = availability;
    if (hopeful !== undefined) await hopeful;
    if (signal.aborted || availability.isAside || !this.#mayDiffer(owner)) return;
    const listClass = this.#classOf(owner);
    if (lists.isFresh(listClass) && this.known(owner) === 'known') return;
    let running = this.#preparations.get(listClass);
    if (running === undefined) {
      running = this.#read(owner).finally(() => this.#preparations.delete(listClass));
      this.#preparations.set(listClass, running);
    }
    await running;
  }

  /** What is known of the lists that the backend gives one caller only. */
  known(owner: SessionOwner): CallerLists {
    const { perCaller, availability, lists } = this.#options;
    if (!perCaller || availability.isAside || !this.#mayDiffer(owner)) return 'known';
    // Nobody tells of changes in lists of a single caller, unless a session of the caller's does.
    return lists.knownOf(listClassOf(owner), availability.era === '2026-07-28');
  }

  async #read(owner: SessionOwner): Promise<void> {
    const { availability, lists, reader, note } = this.#options;
    try {
      const { listing } = await reader.readFor(owner, ({ era }) => availability.noteEra(era));
      lists.store(this.#classOf(owner), listing);
    } catch (cause) {
      lists.missed(this.#classOf(owner));
      note('lists of a capability class not read', cause);
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
