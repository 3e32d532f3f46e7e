/**
 * The indexes of the best scores, best first; equal scores by index. Without scores of 0.
 *
 * Keeps a small sorted list instead of sorting all: `limit` is at most 50, tools are thousands.
 */
export function topScores(scores: Float32Array, limit: number): number[] {
  const best: number[] = [];
  let least = 0;
  for (let tool = 0; tool < scores.length; tool += 1) {
    const score = scores[tool] as number;
    if (score <= 0 || (best.length >= limit && score <= least)) continue;
    let at = best.length;
    while (at > 0 && (scores[best[at - 1] as number] as number) < score) at -= 1;
    best.splice(at, 0, tool);
    if (best.length > limit) best.pop();
    least = scores[best[best.length - 1] as number] as number;
  }
  return best;
}
