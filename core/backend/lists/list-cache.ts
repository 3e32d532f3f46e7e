import type { Era } from '../../contract/era.ts';
import type { Limits } from '../../limits.ts';
import { sharedClass } from '../../mcp/capabilities.ts';
import type { BackendListing, CallerLists } from '../backend-manager.ts';
import { CallerListTimes } from './caller-lists.ts';
import { sameListing } from './listing.ts';

/** What the lists of one backend are kept with. */
export interface ListCacheOptions {
  readonly limits: Limits;
  /** Lists of the description before this one; served until the backend has shown its own. */
  readonly inherited: ReadonlyMap<string, BackendListing> | undefined;
  now(): number;
  /** The lists of a class are there, changed, or have left. */
  changed(capabilityClass: string): void;
  /** Whether lists that a single caller was shown outlast the grace time. */
  keepsCallers(): boolean;
}

/** The lists one backend has shown, by class, and which of them may be out of date. */
export class ListCache {
  readonly #options: ListCacheOptions;
  readonly #byClass: Map<string, BackendListing>;
  readonly #stale = new Set<string>();
  readonly #callerTimes: CallerListTimes;
  #grace: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(options: ListCacheOptions) {
    this.#options = options;
    this.#byClass = new Map(options.inherited);
    this.#callerTimes = new CallerListTimes(options.limits.callerLists, options.now);
  }

  get byClass(): ReadonlyMap<string, BackendListing> {
    return this.#byClass;
  }

  /** The lists of a class: a caller's own, or those of its capability class, or those of the base class. */
  of(listClass: string): BackendListing | undefined {
    const lists = this.#byClass;
    return lists.get(listClass) ?? lists.get(sharedClass(listClass)) ?? lists.get('');
  }

  /** Whether this very class has lists, and nothing says that they are out of date. */
  isFresh(listClass: string): boolean {
    return this.#byClass.has(listClass) && !this.#stale.has(listClass);
  }

  /** What is known of lists that a single caller is shown. `ages`: nobody tells of changes in them. */
  knownOf(listClass: string, ages: boolean): CallerLists {
    if (!this.#byClass.has(listClass)) return this.#callerTimes.mayTry(listClass) ? 'missing' : 'known';
    const isOld = this.#stale.has(listClass) || (ages && this.#callerTimes.isOld(listClass));
    return isOld && this.#callerTimes.mayTry(listClass) ? 'old' : 'known';
  }

  /** Lists were read; says whether they are other ones than before. */
  store(listClass: string, listing: BackendListing): boolean {
    if (this.#isStopped) return false;
    const before = this.#byClass.get(listClass);
    this.#stale.delete(listClass);
    this.#byClass.set(listClass, listing);
    if (sharedClass(listClass) !== listClass) {
      for (const name of this.#callerTimes.read(listClass)) this.#drop(name);
    }
    if (before !== undefined && sameListing(before, listing)) return false;
    this.#options.changed(listClass);
    return true;
  }

  /** Lists could not be read. */
  missed(listClass: string): void {
    this.#callerTimes.failed(listClass);
  }

  /** The backend was found anew, speaking this era: only the base lists, which come next, are surely right. */
  outdate(era: Era): void {
    for (const listClass of [...this.#byClass.keys()]) {
      if (listClass === '') continue;
      this.#stale.add(listClass);
      // What the gateway itself is shown now, and callers were shown each before.
      const isBase = sharedClass(listClass) === '';
      if (era === '2026-07-28' || isBase) this.#drop(listClass);
    }
  }

  /** Classes whose lists may be out of date. */
  get stale(): ReadonlySet<string> {
    return this.#stale;
  }

  /** Lists that nobody can call through any more leave after a while. */
  startGrace(): void {
    this.endGrace();
    this.#grace = setTimeout(() => {
      const stays = (listClass: string) => this.#options.keepsCallers() && sharedClass(listClass) !== listClass;
      for (const listClass of [...this.#byClass.keys()]) if (!stays(listClass)) this.#drop(listClass);
    }, this.#options.limits.listGraceMs);
    this.#grace.unref();
  }

  /** They stay. */
  endGrace(): void {
    clearTimeout(this.#grace);
  }

  stop(): void {
    this.#isStopped = true;
    this.endGrace();
  }

  #drop(listClass: string): void {
    this.#stale.delete(listClass);
    this.#callerTimes.forget(listClass);
    if (this.#byClass.delete(listClass)) this.#options.changed(listClass);
  }
}
