/** Scores by tool that nobody needs after the search. */
export interface ScoreArena {
  /** A search begins: what was taken before is free. */
  begin(): void;
  /** Zeros, one for each tool. */
  take(): Float32Array;
}

/**
 * Makes the arena of one index. A search takes two lists of scores for each of up to nine texts: of ten thousand tools that
 * is most of a megabyte, outside of the engine's heap, where it would wait for a collection that the heap gives no reason
 * for. A search waits for nothing, so no two use the arena at once.
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
