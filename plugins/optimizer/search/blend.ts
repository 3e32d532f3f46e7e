/**
 * Puts two lists of scores on one scale, in place of the first, and mixes them by the ratio.
 *
 * Shape: 0 means not found. The best of each list counts 1; words count in proportion to it, meaning by how far it stands
 * out from the mean, since cosines of unrelated texts are not 0. What either finds stays found.
 */
export function blend(words: Float32Array, meaning: Float32Array, semanticRatio: number): Float32Array {
  scaleWords(words, 1 - semanticRatio);
  const [mean, best] = [meanOf(meaning), highest(meaning)];
  const slope = best > mean ? semanticRatio / (best - mean) : 0;
  for (let tool = 0; tool < words.length; tool += 1) {
    const near = meaning[tool] as number;
    if (near > 0 && semanticRatio > 0)
      words[tool] = (words[tool] as number) + Math.max((near - mean) * slope, near * FAINT);
  }
  return words;
}

/** Puts scores on the scale of `blend` alone: the best counts `share`. */
export function scaleWords(words: Float32Array, share: number): Float32Array {
  const best = highest(words);
  const factor = best > 0 ? share / best : 0;
  for (let tool = 0; tool < words.length; tool += 1) words[tool] = (words[tool] as number) * factor;
  return words;
}

/** Found, below everything that stands out. */
const FAINT = 1e-4;

function highest(scores: Float32Array): number {
  let best = 0;
  for (const score of scores) if (score > best) best = score;
  return best;
}

function meanOf(scores: Float32Array): number {
  let [sum, count] = [0, 0];
  for (const score of scores) {
    if (score <= 0) continue;
    sum += score;
    count += 1;
  }
  return count === 0 ? 0 : sum / count;
}
