import type { BackendStatus } from '../../contract/backend.ts';
import type { Era } from '../../contract/era.ts';
import type { UserActionRequired } from '../../errors.ts';
import type { Limits } from '../../limits.ts';
import { sharedClass } from '../../mcp/capabilities.ts';
import type { BackendListing, CallerLists } from '../backend-manager.ts';
import { oldLists } from './list-age.ts';
import { sameListing } from './listing.ts';

/** Lists of one caller that could not be read. */
interface FailedReading {
  readonly atMs: number;
  /** Why, as a category of failures. */
  readonly category: string;
  /** What the caller has to do first. */
  readonly required: UserActionRequired | undefined;
}

/** What the store of lists needs. */
export interface ListCacheOptions {
  readonly limits: Limits;
  /** Lists of the previous description; served until the backend has sent its own. */
  readonly inherited: ReadonlyMap<string, BackendListing> | undefined;
  now(): number;
  /** The lists of a class were read, changed or withdrawn. */
  changed(capabilityClass: string): void;
  /** While the gateway itself is refused, lists of single callers are kept after the grace period. */
  readonly availability: { readonly status: BackendStatus };
}

/** The lists of one backend by class, and which of them may be outdated. */
export class ListCache {
  readonly #options: ListCacheOptions;
  readonly #byClass: Map<string, BackendListing>;
  readonly #stale = new Set<string>();
  /** When lists of single callers were read; the longest unread are dropped first. */
  readonly #readMs = new Map<string, number>();
  /** Readings of lists of single callers that failed; limited too. */
  readonly #failures = new Map<string, FailedReading>();
  #grace: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(options: ListCacheOptions) {
    this.#options = options;
    this.#byClass = new Map(options.inherited);
  }

  get byClass(): ReadonlyMap<string, BackendListing> {
    return this.#byClass;
  }

  /** The lists of a class: the caller's own, or those of its capability class, or those of the base class. */
  of(listClass: string): BackendListing | undefined {
    const lists = this.#byClass;
    return lists.get(listClass) ?? lists.get(sharedClass(listClass)) ?? lists.get('');
  }

  /** Whether exactly this class has lists that are not outdated. */
  isFresh(listClass: string): boolean {
    return this.#byClass.has(listClass) && !this.#stale.has(listClass);
  }

  /** State of the lists of a single caller. `ages`: changes in them are not announced. */
  knownOf(listClass: string, ages: boolean): CallerLists {
    const { now, limits } = this.#options;
    const failedMs = this.#failures.get(listClass)?.atMs;
    if (failedMs !== undefined && now() - failedMs < TRY_AGAIN_MS) return 'known';
    const listing = this.#byClass.get(listClass);
    if (listing === undefined) return 'missing';
    const isAged = ages && now() - (this.#readMs.get(listClass) ?? 0) >= OLD_MS;
    return isAged || this.#stale.has(listClass) || oldLists(listing, now(), limits).length > 0 ? 'old' : 'known';
  }

  /** Stores lists that were read; returns whether they changed. */
  store(listClass: string, listing: BackendListing): boolean {
    if (this.#isStopped) return false;
    const before = this.#byClass.get(listClass);
    this.#stale.delete(listClass);
    this.#byClass.set(listClass, listing);
    if (sharedClass(listClass) !== listClass) this.#noteRead(listClass);
    if (before !== undefined && sameListing(before, listing)) return false;
    this.#options.changed(listClass);
    return true;
  }

  /** Reading the lists failed; `required`: because the person has to do something first. */
  missed(listClass: string, category: string, required?: UserActionRequired): void {
    this.#failures.set(listClass, { atMs: this.#options.now(), category, required });
    if (this.#failures.size > this.#options.limits.callerLists)
      this.#failures.delete(this.#failures.keys().next().value ?? '');
  }

  /** What a caller has to do before the lists can be read. */
  requiredOf(listClass: string): UserActionRequired | undefined {
    return this.of(listClass) !== undefined ? undefined : this.#failures.get(listClass)?.required;
  }

  /** Category of the failure because of which a class has no lists; `undefined` without one. */
  failureOf(listClass: string): string | undefined {
    return this.#failures.get(listClass)?.category;
  }

  /** The backend may give a caller other lists now, or some at last. */
  credentialsChanged(listClass: string): void {
    this.#failures.delete(listClass);
    if (this.#byClass.has(listClass)) this.#stale.add(listClass);
  }

  /** The backend was found again, with this era: all lists except the base lists, which are read next, are outdated. */
  outdate(era: Era): void {
    for (const listClass of [...this.#byClass.keys()]) {
      if (listClass === '') continue;
      this.#stale.add(listClass);
      // The lists that the gateway itself sees, and those of each caller.
      const isBase = sharedClass(listClass) === '';
      if (era === '2026-07-28' || isBase) this.#drop(listClass);
    }
  }

  /** Classes whose lists may be outdated. */
  get stale(): ReadonlySet<string> {
    return this.#stale;
  }

  /** Withdraws the lists after the grace period, because no call can reach the backend. */
  startGrace(): void {
    this.endGrace();
    if (this.#isStopped) return;
    this.#grace = setTimeout(() => {
      const areKept = this.#options.availability.status === 'unauthenticated';
      const stays = (listClass: string) => areKept && sharedClass(listClass) !== listClass;
      for (const listClass of [...this.#byClass.keys()]) if (!stays(listClass)) this.#drop(listClass);
    }, this.#options.limits.listGraceMs);
    this.#grace.unref();
  }

  /** The backend is back: the lists are kept. */
  endGrace(): void {
    clearTimeout(this.#grace);
  }

  stop(): void {
    this.#isStopped = true;
    this.endGrace();
  }

  /** Drops the lists of callers over the limit. */
  #noteRead(listClass: string): void {
    this.#failures.delete(listClass);
    this.#readMs.delete(listClass);
    this.#readMs.set(listClass, this.#options.now());
    const excess = Math.max(0, this.#readMs.size - this.#options.limits.callerLists);
    for (const oldest of [...this.#readMs.keys()].slice(0, excess)) this.#drop(oldest);
  }

  #drop(listClass: string): void {
    this.#stale.delete(listClass);
    this.#readMs.delete(listClass);
    if (this.#byClass.delete(listClass)) this.#options.changed(listClass);
  }
}

const OLD_MS = 60_000;
const TRY_AGAIN_MS = 5_000; // after a failure
