/**
 * The numbers of the best scores, best first; equal ones by number. Scores of 0 are not found.
 *
 * A small sorted list instead of a sort of all: `limit` is 50 at most, tools are thousands.
 */
export function pick(scores: Float32Array, limit: number): number[] {
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
