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
 * since cosines of unrelated texts are not 0. Words that cover little of the query count less, and so does a meaning
 * whose best hardly stands out of all the others. What either finds stays found, however little it counts; a ratio of 0
 * asks the words alone and 1 the meaning alone.
 * @param standsOut how far above the mean the best meaning usually is, against the best of as many random numbers
 */
export function blend({ words, certainty, meaning }: Heard, semanticRatio: number, standsOut: number): Float32Array {
  const mixed = scaled(words, (1 - semanticRatio) * Math.sqrt(certainty));
  if (semanticRatio === 0) return mixed;
  const [mean, best] = [meanOf(meaning), highest(meaning)];
  const vote = semanticRatio * voteOf(meaning, mean, best, standsOut);
  const slope = best > mean ? vote / (best - mean) : 0;
  for (let tool = 0; tool < mixed.length; tool += 1) {
    const near = meaning[tool] as number;
    if (near <= 0) continue;
    const gained = slope === 0 ? semanticRatio : (near - mean) * slope; // all are equally near, or it is the only one
    mixed[tool] = (mixed[tool] as number) + Math.max(gained, near * FAINT);
  }
  return mixed;
}

/** Its root: twice as far out is not twice as sure. */
function voteOf(meaning: Float32Array, mean: number, best: number, standsOut: number): number {
  const { count, deviation } = deviationFrom(meaning, mean);
  if (deviation === 0) return 1;
  const byChance = Math.sqrt(2 * Math.log(count)); // deviations by which the best of so many is above their mean
  return Math.sqrt((best - mean) / (deviation * byChance * standsOut));
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

/** Standard deviation of what is found, 0 when that is nothing or one. */
function deviationFrom(scores: Float32Array, mean: number): { readonly count: number; readonly deviation: number } {
  let [sum, count] = [0, 0];
  for (let tool = 0; tool < scores.length; tool += 1) {
    const score = scores[tool] as number;
    if (score <= 0) continue;
    sum += (score - mean) ** 2;
    count += 1;
  }
  return { count, deviation: count < 2 ? 0 : Math.sqrt(sum / count) };
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
