/** What one text gave each tool, 0 where it found nothing. */
export interface Heard {
  readonly words: Float32Array;
  /** How far the words are to be trusted, 0 to 1. */
  readonly certainty: number;
  readonly meaning: Float32Array;
}

/**
 * Mixes words and meaning by the ratio, on one scale.
 *
 * The best of each counts its share: words in proportion to their best, meaning by how far it stands out from the mean,
 * since cosines of unrelated texts are not 0. Words that cover little of the query count less. What either finds stays
 * found, however little it counts; a ratio of 0 asks the words alone and 1 the meaning alone.
 */
export function blend({ words, certainty, meaning }: Heard, semanticRatio: number): Float32Array {
  const mixed = scaled(words, (1 - semanticRatio) * Math.sqrt(certainty));
  if (semanticRatio === 0) return mixed;
  const [mean, best] = [meanOf(meaning), highest(meaning)];
  const slope = best > mean ? semanticRatio / (best - mean) : 0;
  for (let tool = 0; tool < mixed.length; tool += 1) {
    const near = meaning[tool] as number;
    if (near > 0) mixed[tool] = (mixed[tool] as number) + Math.max((near - mean) * slope, near * FAINT);
  }
  return mixed;
}

/** Scores in place, so that the best counts `share`. */
export function scaled(scores: Float32Array, share: number): Float32Array {
  const best = highest(scores);
  const factor = best > 0 ? share / best : 0;
  for (let tool = 0; tool < scores.length; tool += 1) scores[tool] = (scores[tool] as number) * factor;
  return scores;
}

/** Found, below everything that stands out. */
const FAINT = 1e-4;

/** The best score, at least 0. */
export function highest(scores: Float32Array): number {
  let best = 0;
  for (let tool = 0; tool < scores.length; tool += 1)
    if ((scores[tool] as number) > best) best = scores[tool] as number;
  return best;
}

function meanOf(scores: Float32Array): number {
  let [sum, count] = [0, 0];
  for (let tool = 0; tool < scores.length; tool += 1) {
    const score = scores[tool] as number;
    if (score <= 0) continue;
    sum += score;
    count += 1;
  }
  return count === 0 ? 0 : sum / count;
}
