import { blend, scaleWords } from './blend.ts';
import { keywordScores } from './keyword.ts';
import type { NearTerms } from './near-terms.ts';
import type { Postings } from './postings.ts';
import { type Matrix, semanticScores } from './semantic.ts';
import type { Tuning } from './tuning.ts';

/** What an index knows. */
export interface Ground {
  readonly postings: Postings;
  readonly near: NearTerms;
  readonly matrix: Matrix | undefined;
  readonly tuning: Tuning;
}

/** A query with its parts, the whole first, and the vector of each where the meaning counts. */
export interface Asked {
  readonly parts: readonly string[];
  readonly vectors: readonly Float32Array[] | undefined;
  readonly semanticRatio: number;
  readonly maxDistance: number;
}

/**
 * The score of every tool for a query, 0 when not found.
 *
 * With parts a tool is as good as for the part it suits best, and a little better when it suits the whole: each part
 * brings its own tool to the top, where the words of the longest part would fill the list alone.
 */
export function rank(ground: Ground, asked: Asked): Float32Array {
  const [whole = new Float32Array(ground.postings.size), ...parts] = asked.parts.map((_, at) =>
    scoresOf(ground, asked, at),
  );
  if (parts.length === 0) return whole;
  for (let tool = 0; tool < whole.length; tool += 1) {
    let best = 0;
    for (const part of parts) best = Math.max(best, part[tool] as number);
    whole[tool] = ground.tuning.whole * (whole[tool] as number) + best;
  }
  return whole;
}

function scoresOf({ postings, near, matrix, tuning }: Ground, asked: Asked, at: number): Float32Array {
  const words = new Float32Array(postings.size);
  const vector = asked.vectors?.[at];
  const ratio = matrix === undefined || vector === undefined ? 0 : asked.semanticRatio;
  if (ratio < 1) keywordScores(asked.parts[at] ?? '', { postings, near, tuning }, words);
  if (ratio === 0 || matrix === undefined || vector === undefined) return scaleWords(words, 1);
  return blend(words, semanticScores(matrix, vector, asked.maxDistance), ratio);
}
