import type { SessionOwner } from '../../contract/client-context.ts';
import { UserActionRequired } from '../../errors.ts';
import { listClassOf } from '../../mcp/capabilities.ts';
import type { Availability } from '../availability.ts';
import type { CallerLists } from '../backend-manager.ts';
import { categoryOf } from '../failure.ts';
import type { SessionPool } from '../sessions/session-pool.ts';
import type { ListCache } from './list-cache.ts';
import type { ListReader } from './list-reader.ts';

/** What reading the lists of owners needs. */
export interface OwnerListsOptions {
  /** The lists of the backend depend on the caller. */
  readonly perCaller: boolean;
  readonly pool: SessionPool;
  readonly availability: Availability;
  readonly lists: ListCache;
  readonly reader: ListReader;
  /** Aborts when the backend is removed. */
  readonly signal: AbortSignal;
  note(what: string, cause: unknown): void;
}

/** The lists of owners that may differ from those of the gateway itself: per capability class, or per caller. */
export class OwnerLists {
  readonly #options: OwnerListsOptions;
  readonly #preparations = new Map<string, Promise<void>>();
  /** Classes whose credentials changed while their lists were read: they are read once more. */
  readonly #changed = new Set<string>();

  constructor(options: OwnerListsOptions) {
    this.#options = options;
  }

  /** Makes sure that an owner's class has its own lists where they may differ. Never rejects. */
  async prepareOwner(owner: SessionOwner): Promise<void> {
    const { availability, lists, signal } = this.#options;
    const { firstAttempt } = availability;
    if (firstAttempt !== undefined) await firstAttempt;
    if (signal.aborted || availability.isExcluded || !this.#mayDiffer(owner)) return;
    const listClass = this.#classOf(owner);
    if (lists.isFresh(listClass) && this.known(owner) === 'known') return;
    let running = this.#preparations.get(listClass);
    if (running === undefined) {
      running = this.#read(owner).finally(() => this.#preparations.delete(listClass));
      this.#preparations.set(listClass, running);
    }
    await running;
  }

  /** State of the lists that the backend gives to one caller only. */
  known(owner: SessionOwner): CallerLists {
    const { perCaller, availability, lists } = this.#options;
    if (!perCaller || availability.isExcluded || !this.#mayDiffer(owner)) return 'known';
    // Changes in lists of a single caller are announced only on a session of that caller.
    return lists.knownOf(listClassOf(owner), availability.era === '2026-07-28');
  }

  /** Whether lists that this owner would see are being read, or have to be. */
  isPending(owner: SessionOwner): boolean {
    if (this.#options.availability.firstAttempt !== undefined) return true;
    return this.#preparations.has(this.#classOf(owner)) || this.known(owner) === 'missing';
  }

  /** Why a caller's class has no lists, although the backend is available; `undefined` when it has some. */
  whyUnread(listClass: string): string | undefined {
    const { perCaller, availability, lists } = this.#options;
    const { status, isExcluded } = availability;
    const isThere = status === 'ready' || status === 'unauthenticated';
    if (!perCaller || !isThere || isExcluded || lists.of(listClass) !== undefined) return undefined;
    if (lists.requiredOf(listClass) !== undefined) return undefined;
    const category = this.#preparations.has(listClass) ? undefined : lists.failureOf(listClass);
    return category === undefined ? BEING_READ : `its lists could not be read for this caller: ${category}`;
  }

  /** The backend may give the owner's caller other lists now. */
  credentialsChanged(owner: SessionOwner): void {
    if (!this.#options.perCaller) return;
    const listClass = listClassOf(owner);
    if (this.#preparations.has(listClass)) this.#changed.add(listClass);
    this.#options.lists.credentialsChanged(listClass);
  }

  async #read(owner: SessionOwner): Promise<void> {
    const listClass = this.#classOf(owner);
    do {
      await this.#readOnce(owner);
      // What failed was perhaps tried before the change.
      if (this.#changed.has(listClass)) this.#options.lists.credentialsChanged(listClass);
    } while (this.#changed.delete(listClass) && !this.#options.signal.aborted);
  }

  async #readOnce(owner: SessionOwner): Promise<void> {
    const { availability, lists, reader, note } = this.#options;
    try {
      const { listing } = await reader.readFor(owner, ({ era }) => availability.send({ is: 'era-seen', era }));
      lists.store(this.#classOf(owner), listing);
    } catch (cause) {
      const isWaiting = cause instanceof UserActionRequired;
      lists.missed(this.#classOf(owner), categoryOf(cause), isWaiting ? cause : undefined);
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
