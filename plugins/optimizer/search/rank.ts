import { blend, highest, scaled } from './blend.ts';
import { type KeywordContext, keywordScores } from './keyword.ts';
import { type Matrix, semanticScores } from './semantic.ts';

/** The data of an index. */
export interface RankContext extends KeywordContext {
  readonly matrix: Matrix | undefined;
}

/** A query with its parts, the whole first, and a vector for each part when there are any. */
export interface RankQuery {
  readonly parts: readonly string[];
  readonly vectors: readonly Float32Array[] | undefined;
  readonly semanticRatio: number;
  readonly maxDistance: number;
  /** By tool, 0 for those that must not be found; all may be found when absent. */
  readonly allowed: Uint8Array | undefined;
}

/**
 * The score of every tool for a query, 0 without a match. The next search overwrites the result.
 *
 * With several parts a tool gets its best score of all parts, plus a share of its score for the whole query. So each part
 * brings its tools to the top, and the longest part does not fill the list. A part without good matches ("and a brief
 * summary") has a lower weight.
 */
export function rank(context: RankContext, rankQuery: RankQuery): Float32Array {
  context.arena.begin();
  const semanticScoresByPart = semanticScoresOf(context, rankQuery);
  const [whole, ...parts] = rankQuery.parts.map((text, at) =>
    scoresOf(context, rankQuery, text, semanticScoresByPart[at]),
  );
  if (whole === undefined) return context.arena.take();
  if (parts.length === 0) return whole.scores;
  const strongest = parts.reduce((most, { strength }) => Math.max(most, strength), 0) || 1;
  const best = context.arena.take();
  for (const { scores, strength } of parts) {
    const weight = Math.sqrt(strength / strongest);
    for (let tool = 0; tool < best.length; tool += 1) {
      const score = weight * (scores[tool] as number);
      if (score > (best[tool] as number)) best[tool] = score;
    }
  }
  for (let tool = 0; tool < best.length; tool += 1) {
    best[tool] = (best[tool] as number) + context.tuning.whole * (whole.scores[tool] as number);
  }
  return best;
}

/** Scores of one text, the best about 1, with their reliability. */
interface Scored {
  readonly scores: Float32Array;
  readonly strength: number;
}

/** Semantic scores for all parts in one pass over the tools; empty without vectors. */
function semanticScoresOf(
  { matrix, arena }: RankContext,
  { parts, vectors, semanticRatio, maxDistance, allowed }: RankQuery,
) {
  if (matrix === undefined || vectors === undefined || semanticRatio === 0) return [];
  return semanticScores(matrix, vectors.slice(0, parts.length), maxDistance, allowed, arena.take);
}

function scoresOf(
  context: RankContext,
  rankQuery: RankQuery,
  text: string,
  semantic: Float32Array | undefined,
): Scored {
  const { semanticRatio: ratio, allowed } = rankQuery;
  if (semantic === undefined) {
    const { scores, certainty } = keywordScores(text, context, allowed);
    return { scores: scaled(scores, 1), strength: certainty };
  }
  const nearest = Math.max(0, highest(semantic) - 1);
  const { scores: words, certainty } =
    ratio < 1 ? keywordScores(text, context, allowed) : { scores: context.arena.take(), certainty: 0 };
  return {
    scores: blend({ words, certainty, semantic }, ratio, context.tuning.outlierFactor),
    strength: (1 - ratio) * certainty + ratio * nearest,
  };
}
