import type { CpuBudget } from './cpu-budget.ts';

/** Of all places, what one owner's scripts may hold while others may come. */
const OWNER_SHARE = 0.75;

/** A script that has its answers and waits for a place to go on. */
export interface Resuming {
  readonly owner: string;
  resume(): void;
}

/**
 * The places for scripts that compute, as many as scripts may compute at the same time. A script that waits for its
 * tools holds none.
 */
export class ComputePlaces {
  readonly #total: number;
  readonly #perOwner: number;
  readonly #budget: Pick<CpuBudget, 'used'>;
  readonly #held = new Map<string, number>();
  readonly #resuming: Resuming[] = [];
  #taken = 0;

  constructor(total: number, budget: Pick<CpuBudget, 'used'>) {
    this.#total = total;
    this.#perOwner = Math.max(1, Math.floor(total * OWNER_SHARE));
    this.#budget = budget;
  }

  mayTake(owner: string): boolean {
    return this.#taken < this.#total && (this.#held.get(owner) ?? 0) < this.#perOwner;
  }

  take(owner: string): void {
    this.#taken++;
    this.#held.set(owner, (this.#held.get(owner) ?? 0) + 1);
  }

  release(owner: string): void {
    this.#taken--;
    const held = (this.#held.get(owner) ?? 0) - 1;
    if (held > 0) this.#held.set(owner, held);
    else this.#held.delete(owner);
  }

  wait(resuming: Resuming): void {
    this.#resuming.push(resuming);
  }

  /** Who goes on next; `undefined` when nobody may. */
  next(): Resuming | undefined {
    let best: Resuming | undefined;
    for (const each of this.#resuming) {
      if (this.mayTake(each.owner) && (best === undefined || this.isBefore(each.owner, best.owner))) best = each;
    }
    return best;
  }

  leave(resuming: Resuming): void {
    const at = this.#resuming.indexOf(resuming);
    if (at !== -1) this.#resuming.splice(at, 1);
  }

  /** Whether one owner comes before another: by fewer places, then by less computing time lately. */
  isBefore(owner: string, other: string): boolean {
    const more = (this.#held.get(owner) ?? 0) - (this.#held.get(other) ?? 0);
    return more === 0 ? this.#budget.used(owner) < this.#budget.used(other) : more < 0;
  }
}
