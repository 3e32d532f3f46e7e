import type { Postings } from './postings.ts';
import { extractValues } from './query-values.ts';
import type { ScoreArena } from './score-arena.ts';
import type { SimilarTerms } from './similar-terms.ts';
import { GRAMMAR_TERMS, INTERFACE_TERMS } from './stop-words.ts';
import { SYNONYMS } from './synonyms.ts';
import { termsOf } from './tokenize.ts';
import type { Tuning } from './tuning.ts';

/** Maximum terms of a query; later ones are ignored. */
export const MAX_QUERY_TERMS = 64;
/** Maximum characters of a query; later ones are ignored. */
export const MAX_QUERY_TEXT = 4_000;

/** Keyword scores of one text. */
export interface KeywordScores {
  /** By tool, 0 without a match. */
  readonly scores: Float32Array;
  /** Share of the text that the best tool covers, 0 to 1. */
  readonly certainty: number;
}

/** The data that keyword search reads. */
export interface KeywordContext {
  readonly postings: Postings;
  readonly near: SimilarTerms;
  readonly arena: ScoreArena;
  readonly tuning: Tuning;
}

/**
 * Scores every tool by the terms of a text.
 *
 * A term, its synonyms and its similar spellings count once per tool, with the best of their scores. The sum is multiplied by
 * the square root of the covered share of the text, weighted by rarity: many different words win over one repeated word.
 * @param allowed 0 for tools that must not be found; they do not count as the best
 */
export function keywordScores(text: string, context: KeywordContext, allowed?: Uint8Array): KeywordScores {
  const { postings, near, arena, tuning } = context;
  const sums: Sums = { scores: arena.take(), ...scratchOf(postings) };
  sums.covered.fill(0);
  let total = 0;
  for (const [term, weight] of weightedTerms(text, tuning)) {
    const matches = matchingTerms(term, postings.terms, near, tuning);
    total += weight * rarityOf(matches, postings);
    addTerm(postings, matches, weight, sums);
  }
  return { scores: sums.scores, certainty: coveredShare(sums, total, allowed) };
}

/** A term number with its weight. */
type WeightedTerm = readonly [term: number, worth: number];

interface Sums extends Scratch {
  readonly scores: Float32Array;
}

/** Buffers by tool, reused by every search: for ten thousand tools they are most of the allocations. */
interface Scratch {
  readonly covered: Float32Array;
  /** Scores of the current term, by tool; 0 between terms. */
  readonly score: Float32Array;
  readonly cover: Float32Array;
  /** Tools that contain the current term. */
  readonly touched: Uint32Array;
}

/** One per index: a search is synchronous, so searches cannot overlap. */
const scratches = new WeakMap<Postings, Scratch>();

function scratchOf(postings: Postings): Scratch {
  const known = scratches.get(postings) ?? {
    covered: new Float32Array(postings.size),
    score: new Float32Array(postings.size),
    cover: new Float32Array(postings.size),
    touched: new Uint32Array(postings.size),
  };
  scratches.set(postings, known);
  return known;
}

function weightedTerms(text: string, tuning: Tuning): ReadonlyMap<string, number> {
  const [words, values] = extractValues(text.slice(0, MAX_QUERY_TEXT));
  const weighted = new Map<string, number>();
  addTerms(weighted, words, 1, tuning);
  addTerms(weighted, values, tuning.value, tuning);
  return weighted;
}

function addTerms(weighted: Map<string, number>, text: string, weight: number, tuning: Tuning): void {
  const all = termsOf(text, MAX_QUERY_TERMS * 4);
  const significant = all.filter((term) => !GRAMMAR_TERMS.has(term));
  for (const term of significant.length > 0 || weighted.size > 0 ? significant : all) {
    if (weighted.size >= MAX_QUERY_TERMS) return;
    if (!weighted.has(term)) weighted.set(term, weight * (INTERFACE_TERMS.has(term) ? tuning.interfaceWord : 1));
  }
}

function matchingTerms(
  term: string,
  terms: ReadonlyMap<string, number>,
  near: SimilarTerms,
  tuning: Tuning,
): readonly WeightedTerm[] {
  const own = terms.get(term);
  const synonyms = (SYNONYMS.get(term) ?? []).flatMap((each): WeightedTerm[] => {
    const id = terms.get(each);
    return id === undefined ? [] : [[id, tuning.synonym]];
  });
  if (own !== undefined) return [[own, 1], ...synonyms];
  return [...near(term).map(([id, likeness]): WeightedTerm => [id, tuning.misspelt * likeness]), ...synonyms];
}

/** The rarity of a term's best match; an unknown term counts as the rarest. */
function rarityOf(matches: readonly WeightedTerm[], postings: Postings): number {
  if (matches.length === 0) return postings.unknown;
  let most = 0;
  for (const [term, worth] of matches) most = Math.max(most, worth * (postings.rarity[term] as number));
  return most;
}

function addTerm(postings: Postings, matches: readonly WeightedTerm[], weight: number, sums: Sums): void {
  const { scores, covered, score, cover, touched } = sums;
  let count = 0;
  for (const [term, worth] of matches) {
    const most = weight * worth * (postings.rarity[term] as number);
    const end = postings.starts[term + 1] as number;
    for (let at = postings.starts[term] as number; at < end; at += 1) {
      const tool = postings.tools[at] as number;
      if (cover[tool] === 0) {
        touched[count] = tool;
        count += 1;
      }
      if (most > (cover[tool] as number)) cover[tool] = most;
      const counted = most * (postings.counts[at] as number);
      if (counted > (score[tool] as number)) score[tool] = counted;
    }
  }
  for (let at = 0; at < count; at += 1) {
    const tool = touched[at] as number;
    scores[tool] = (scores[tool] as number) + (score[tool] as number);
    covered[tool] = (covered[tool] as number) + (cover[tool] as number);
    score[tool] = 0;
    cover[tool] = 0;
  }
}

function coveredShare({ scores, covered }: Sums, total: number, allowed: Uint8Array | undefined): number {
  let [best, certainty] = [0, 0];
  for (let tool = 0; tool < scores.length; tool += 1) {
    const share = total > 0 && allowed?.[tool] !== 0 ? Math.min(1, (covered[tool] as number) / total) : 0;
    const score = (scores[tool] as number) * Math.sqrt(share);
    scores[tool] = score;
    if (score > best) [best, certainty] = [score, share];
  }
  return certainty;
}
