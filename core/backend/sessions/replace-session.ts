import type { SessionHolder } from './session-holder.ts';

/** The free holder to replace: the least recently used one without subscribers, else the least recently used one. */
export function leastMissed(holders: Iterable<SessionHolder>): SessionHolder | undefined {
  let spare: SessionHolder | undefined;
  for (const holder of holders) {
    if (!holder.isFree) continue;
    const isLessMissed =
      spare === undefined ||
      (holder.isWatched === spare.isWatched ? holder.usedAtMs < spare.usedAtMs : spare.isWatched);
    if (isLessMissed) spare = holder;
  }
  return spare;
}

/** The first holder in use whose call only waits for an answer of its client. */
export function firstWaiting(holders: Iterable<SessionHolder>): SessionHolder | undefined {
  for (const holder of holders) if (holder.waitsForClient) return holder;
  return undefined;
}

/**
 * When callers at their limit last replaced one of their processes. Starting a program is expensive: such a caller must not
 * start programs as fast as it can call.
 */
export class ProcessStarts {
  readonly #pauseMs: number;
  readonly #now: () => number;
  readonly #lastMs = new Map<string, number>();

  /** `pauseMs`: the time between two starts of one caller. `now`: epoch milliseconds. */
  constructor(pauseMs: number, now: () => number) {
    this.#pauseMs = pauseMs;
    this.#now = now;
  }

  /** Whether a caller may replace one of its sessions now; `share` is its share of the backend's sessions. */
  may(share: string): boolean {
    const lastMs = this.#lastMs.get(share);
    return lastMs === undefined || this.#now() - lastMs >= this.#pauseMs;
  }

  note(share: string): void {
    this.#lastMs.set(share, this.#now());
  }

  /** Forgets what has no effect any more. */
  sweep(): void {
    for (const share of this.#lastMs.keys()) if (this.may(share)) this.#lastMs.delete(share);
  }
}
