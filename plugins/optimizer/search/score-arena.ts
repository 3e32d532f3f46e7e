/** Reusable score buffers for one search. */
export interface ScoreArena {
  /** Starts a search: all buffers are free again. */
  begin(): void;
  /** A buffer of zeros, one per tool. */
  take(): Float32Array;
}

/**
 * Creates the arena of one index. A search takes two buffers for each of up to nine texts, almost a megabyte for ten thousand
 * tools. This memory is outside the JavaScript heap, so garbage collection would free it late. A search is synchronous, so
 * searches cannot overlap.
 */
export function createScoreArena(size: number): ScoreArena {
  const lists: Float32Array[] = [];
  let taken = 0;
  return {
    begin() {
      taken = 0;
    },
    take() {
      const list = lists[taken] ?? new Float32Array(size);
      lists[taken] = list;
      taken += 1;
      return list.fill(0);
    },
  };
}
