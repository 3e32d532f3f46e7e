import type { UserActionRequired } from '../../errors.ts';

const OLD_MS = 60_000;
const TRY_AGAIN_MS = 5_000;

/** Lists of one caller that could not be read. */
interface FailedReading {
  readonly atMs: number;
  /** Why, as a category of failures. */
  readonly category: string;
  /** What the caller has to do first. */
  readonly required: UserActionRequired | undefined;
}

/**
 * When lists of single callers were read, and when reading failed. Both are limited; the longest unread are dropped
 * first.
 */
export class CallerListTimes {
  readonly #max: number;
  readonly #now: () => number;
  readonly #readMs = new Map<string, number>();
  readonly #failed = new Map<string, FailedReading>();

  constructor(max: number, now: () => number) {
    this.#max = max;
    this.#now = now;
  }

  /** Lists were read; returns the callers over the limit. */
  read(listClass: string): string[] {
    this.#failed.delete(listClass);
    this.#readMs.delete(listClass);
    this.#readMs.set(listClass, this.#now());
    const excess = this.#readMs.size - this.#max;
    return excess <= 0 ? [] : [...this.#readMs.keys()].slice(0, excess);
  }

  failed(listClass: string, category: string, required?: UserActionRequired): void {
    this.#failed.set(listClass, { atMs: this.#now(), category, required });
    if (this.#failed.size > this.#max) this.#failed.delete(this.#failed.keys().next().value ?? '');
  }

  /** The last reading, if it failed. */
  failureOf(listClass: string): FailedReading | undefined {
    return this.#failed.get(listClass);
  }

  /** A failed reading may be repeated at once. */
  forgetFailure(listClass: string): void {
    this.#failed.delete(listClass);
  }

  forget(listClass: string): void {
    this.#readMs.delete(listClass);
  }

  /** Not again at once after a failure. */
  mayTry(listClass: string): boolean {
    const failedMs = this.#failed.get(listClass)?.atMs;
    return failedMs === undefined || this.#now() - failedMs >= TRY_AGAIN_MS;
  }

  isOld(listClass: string): boolean {
    return this.#now() - (this.#readMs.get(listClass) ?? 0) >= OLD_MS;
  }
}
