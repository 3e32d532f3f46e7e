import { blend, highest, scaled } from './blend.ts';
import { type KeywordGround, keywordScores } from './keyword.ts';
import { type Matrix, semanticScores } from './semantic.ts';

/** What an index knows. */
export interface Ground extends KeywordGround {
  readonly matrix: Matrix | undefined;
}

/** A query with its parts, the whole first, and the vector of each where the meaning counts. */
export interface Asked {
  readonly parts: readonly string[];
  readonly vectors: readonly Float32Array[] | undefined;
  readonly semanticRatio: number;
  readonly maxDistance: number;
  /** By tool, 0 for those that may not be found; all may when absent. */
  readonly allowed: Uint8Array | undefined;
}

/**
 * The score of every tool for a query, 0 when not found. Overwritten by the next search.
 *
 * With parts a tool is as good as for the part it suits best, and a little better when it suits the whole: each part
 * brings its own tool to the top, where the words of the longest part would fill the list alone. A part that nothing
 * suits well ("and a brief summary") counts less than the others.
 */
export function rank(ground: Ground, asked: Asked): Float32Array {
  ground.arena.begin();
  const meanings = meaningsOf(ground, asked);
  const [whole, ...parts] = asked.parts.map((text, at) => scoresOf(ground, asked, text, meanings[at]));
  if (whole === undefined) return ground.arena.take();
  if (parts.length === 0) return whole.scores;
  const strongest = parts.reduce((most, { strength }) => Math.max(most, strength), 0) || 1;
  const best = ground.arena.take();
  for (const { scores, strength } of parts) {
    const weight = Math.sqrt(strength / strongest);
    for (let tool = 0; tool < best.length; tool += 1) {
      const score = weight * (scores[tool] as number);
      if (score > (best[tool] as number)) best[tool] = score;
    }
  }
  for (let tool = 0; tool < best.length; tool += 1) {
    best[tool] = (best[tool] as number) + ground.tuning.whole * (whole.scores[tool] as number);
  }
  return best;
}

/** Scores of one text, the best about 1, and how sure they are. */
interface Scored {
  readonly scores: Float32Array;
  readonly strength: number;
}

/** How near each tool is to each part, where the meaning counts; all parts at once, since that reads the tools once. */
function meaningsOf({ matrix, arena }: Ground, { parts, vectors, semanticRatio, maxDistance, allowed }: Asked) {
  if (matrix === undefined || vectors === undefined || semanticRatio === 0) return [];
  return semanticScores(matrix, vectors.slice(0, parts.length), maxDistance, allowed, arena.take);
}

function scoresOf(ground: Ground, asked: Asked, text: string, meaning: Float32Array | undefined): Scored {
  const { semanticRatio: ratio, allowed } = asked;
  if (meaning === undefined) {
    const { scores, certainty } = keywordScores(text, ground, allowed);
    return { scores: scaled(scores, 1), strength: certainty };
  }
  const nearest = Math.max(0, highest(meaning) - 1);
  const { scores: words, certainty } =
    ratio < 1 ? keywordScores(text, ground, allowed) : { scores: ground.arena.take(), certainty: 0 };
  return {
    scores: blend({ words, certainty, meaning }, ratio, ground.tuning.standsOut),
    strength: (1 - ratio) * certainty + ratio * nearest,
  };
}
