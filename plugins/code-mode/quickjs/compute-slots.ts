import type { CpuBudget } from './cpu-budget.ts';

/** The share of all slots that one owner's scripts may use. */
const OWNER_SHARE = 0.75;

/** A script that has received answers and waits for a slot to continue. */
export interface ResumeRequest {
  readonly owner: string;
  resume(): void;
}

/**
 * Concurrency slots for scripts that compute. A script that waits for tools holds none.
 */
export class ComputeSlots {
  readonly #total: number;
  readonly #perOwner: number;
  readonly #budget: Pick<CpuBudget, 'used'>;
  readonly #held = new Map<string, number>();
  readonly #request: ResumeRequest[] = [];
  #taken = 0;

  constructor(total: number, budget: Pick<CpuBudget, 'used'>) {
    this.#total = total;
    this.#perOwner = Math.max(1, Math.floor(total * OWNER_SHARE));
    this.#budget = budget;
  }

  canTake(owner: string): boolean {
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

  wait(request: ResumeRequest): void {
    this.#request.push(request);
  }

  /** The script that continues next; `undefined` when none may. */
  next(): ResumeRequest | undefined {
    let best: ResumeRequest | undefined;
    for (const each of this.#request) {
      if (this.canTake(each.owner) && (best === undefined || this.isBefore(each.owner, best.owner))) best = each;
    }
    return best;
  }

  cancel(request: ResumeRequest): void {
    const at = this.#request.indexOf(request);
    if (at !== -1) this.#request.splice(at, 1);
  }

  /** Whether one owner comes before another: fewer slots first, then less recent computing time. */
  isBefore(owner: string, other: string): boolean {
    const more = (this.#held.get(owner) ?? 0) - (this.#held.get(other) ?? 0);
    return more === 0 ? this.#budget.used(owner) < this.#budget.used(other) : more < 0;
  }
}
