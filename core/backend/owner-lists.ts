import type { LinkOwner } from '../contract/call.ts';
import { listClassOf } from '../protocol/capabilities.ts';
import type { ListReader } from './list-reader.ts';
import type { LinkPool } from './pool.ts';
import type { Presence } from './presence.ts';
import type { CallerLists } from './room.ts';
import type { ShownLists } from './shown-lists.ts';

/** What the lists of owners are read with. */
export interface OwnerListsOptions {
  /** What the backend shows depends on the caller. */
  readonly perCaller: boolean;
  readonly pool: LinkPool;
  readonly presence: Presence;
  readonly lists: ShownLists;
  readonly reader: ListReader;
  /** Aborts when the backend is not kept any more. */
  readonly signal: AbortSignal;
  note(what: string, cause: unknown): void;
}

/** The lists of those who may be shown something else than the gateway itself: per capability class, or per caller. */
export class OwnerLists {
  readonly #options: OwnerListsOptions;
  readonly #welcomes = new Map<string, Promise<void>>();

  constructor(options: OwnerListsOptions) {
    this.#options = options;
  }

  /** Sees that an owner's class has lists of its own where it may differ. Never rejects. */
  async welcome(owner: LinkOwner): Promise<void> {
    const { presence, lists, signal } = this.#options;
    const { hopeful } = presence;
    if (hopeful !== undefined) await hopeful;
    if (signal.aborted || presence.isAside || !this.#mayDiffer(owner)) return;
    const listClass = this.#classOf(owner);
    if (lists.isFresh(listClass) && this.known(owner) === 'known') return;
    let running = this.#welcomes.get(listClass);
    if (running === undefined) {
      running = this.#read(owner).finally(() => this.#welcomes.delete(listClass));
      this.#welcomes.set(listClass, running);
    }
    await running;
  }

  /** What is known of the lists that the backend gives one caller only. */
  known(owner: LinkOwner): CallerLists {
    const { perCaller, presence, lists } = this.#options;
    if (!perCaller || presence.isAside || !this.#mayDiffer(owner)) return 'known';
    // Nobody tells of changes in lists of a single caller, unless a session of the caller's does.
    return lists.knownOf(listClassOf(owner), presence.era === '2026-07-28');
  }

  async #read(owner: LinkOwner): Promise<void> {
    const { presence, lists, reader, note } = this.#options;
    try {
      const { listing } = await reader.readFor(owner, ({ era }) => presence.noteEra(era));
      lists.store(this.#classOf(owner), listing);
    } catch (cause) {
      lists.missed(this.#classOf(owner));
      note('lists of a capability class not read', cause);
    }
  }

  #classOf(owner: LinkOwner): string {
    return this.#options.perCaller ? listClassOf(owner) : owner.capabilityClass;
  }

  #mayDiffer(owner: LinkOwner): boolean {
    const { presence, pool } = this.#options;
    if (presence.status === 'unauthenticated') return true;
    return presence.status === 'ready' && owner.capabilityClass !== '' && !pool.sharesLists(owner);
  }
}
