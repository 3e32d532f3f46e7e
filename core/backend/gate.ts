import type { Cancellation } from '../contract/cancellation.ts';
import { LinkFailure } from './failure.ts';

/** Lets a bounded number of calls through to one backend; more wait in line, and even more are refused. */
export class Gate {
  readonly #workload: string;
  readonly #places: number;
  readonly #queueLength: number;
  readonly #line = new Set<() => void>();
  #inside = 0;

  constructor(workload: string, places: number, queueLength: number) {
    this.#workload = workload;
    this.#places = places;
    this.#queueLength = queueLength;
  }

  get inside(): number {
    return this.#inside;
  }

  /**
   * Takes a place: `undefined` when there is one at once, else a promise of it. Every entry needs one `leave`.
   * @throws LinkFailure BACKEND_BUSY when the line is full; the promise also after `waitMs`, or with the signal's reason
   */
  enter(waitMs: number, cancel: Cancellation): undefined | Promise<void> {
    if (this.#inside < this.#places) {
      this.#inside++;
      return undefined;
    }
    if (this.#line.size >= this.#queueLength) throw this.#busy('has too many calls in flight and waiting');
    return new Promise((resolve, reject) => {
      const leaveLine = () => {
        this.#line.delete(go);
        clearTimeout(timer);
        cancel.remove(listener);
      };
      const go = () => {
        leaveLine();
        resolve();
      };
      const listener = {
        cancelled: (reason: unknown): void => {
          leaveLine();
          reject(reason);
        },
      };
      const timer = setTimeout(() => {
        leaveLine();
        reject(this.#busy(`had no place for the call within ${waitMs} ms`));
      }, waitMs);
      this.#line.add(go);
      cancel.add(listener);
    });
  }

  /** Gives the place to the next in line, or back. */
  leave(): void {
    for (const go of this.#line) return go();
    this.#inside--;
  }

  #busy(sentence: string): LinkFailure {
    return new LinkFailure('BACKEND_BUSY', this.#workload, sentence, { category: 'busy', notRun: true });
  }
}
