/** Scores of one text by tool, 0 without a match. */
export interface TextScores {
  readonly words: Float32Array;
  /** How reliable the keyword scores are, 0 to 1. */
  readonly certainty: number;
  readonly semantic: Float32Array;
}

/**
 * Mixes keyword and semantic scores by the ratio, on one scale.
 *
 * Keyword scores are relative to the best one. Semantic scores are relative to their mean, since cosines of unrelated texts
 * are not 0. Keyword scores that cover little of the query are reduced, and so are semantic scores whose best is close to the
 * mean. A tool with any score keeps a score above 0. Ratio 0 uses keywords only, ratio 1 semantic scores only.
 * @param outlierFactor how far above the mean the best semantic score usually is, relative to the best of as many random
 * numbers
 */
export function blend(
  { words, certainty, semantic }: TextScores,
  semanticRatio: number,
  outlierFactor: number,
): Float32Array {
  const mixed = scaled(words, (1 - semanticRatio) * Math.sqrt(certainty));
  if (semanticRatio === 0) return mixed;
  const [mean, best] = [meanOf(semantic), highest(semantic)];
  const weight = semanticRatio * semanticWeight(semantic, mean, best, outlierFactor);
  const slope = best > mean ? weight / (best - mean) : 0;
  for (let tool = 0; tool < mixed.length; tool += 1) {
    const near = semantic[tool] as number;
    if (near <= 0) continue;
    const gained = slope === 0 ? semanticRatio : (near - mean) * slope; // all scores are equal, or there is only one
    mixed[tool] = (mixed[tool] as number) + Math.max(gained, near * FAINT);
  }
  return mixed;
}

/** The square root dampens large outliers. */
function semanticWeight(semantic: Float32Array, mean: number, best: number, outlierFactor: number): number {
  const { count, deviation } = deviationFrom(semantic, mean);
  if (deviation === 0) return 1;
  const byChance = Math.sqrt(2 * Math.log(count)); // expected maximum of so many random scores, in standard deviations
  return Math.sqrt((best - mean) / (deviation * byChance * outlierFactor));
}

/** Scales scores in place, so that the best one is `share`. */
export function scaled(scores: Float32Array, share: number): Float32Array {
  const best = highest(scores);
  const factor = best > 0 ? share / best : 0;
  for (let tool = 0; tool < scores.length; tool += 1) scores[tool] = (scores[tool] as number) * factor;
  return scores;
}

/** Factor of the minimum score of a match. */
const FAINT = 1e-4;

/** The best score, at least 0. */
export function highest(scores: Float32Array): number {
  let best = 0;
  for (let tool = 0; tool < scores.length; tool += 1)
    if ((scores[tool] as number) > best) best = scores[tool] as number;
  return best;
}

/** Standard deviation of the scores above 0; 0 for fewer than two. */
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
