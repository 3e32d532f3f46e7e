import type { NearTerms } from './near-terms.ts';
import { GRAMMAR_TERMS, INTERFACE_TERMS } from './passing-words.ts';
import type { Postings } from './postings.ts';
import type { Tuning } from './tuning.ts';
import { RELATIVES } from './word-families.ts';
import { termsOf } from './words.ts';

/** Terms of a query that count; what comes later is not looked at. */
export const MAX_QUERY_TERMS = 64;
/** Characters of a query that are looked at. */
export const MAX_QUERY_TEXT = 4_000;

/**
 * Adds to `scores[tool]` what the words of a text give each tool; every score begins at 0.
 *
 * A term, its relatives and its likely spellings count once per tool, by the best of them.
 */
export function keywordScores(
  text: string,
  { postings, near, tuning }: { readonly postings: Postings; readonly near: NearTerms; readonly tuning: Tuning },
  scores: Float32Array,
): void {
  const best = new Float32Array(postings.size);
  for (const [term, times] of weighedTerms(text, tuning)) {
    const meant = meanings(term, postings.terms, near, tuning);
    if (meant.length === 1) addTerm(postings, meant[0], times, scores);
    else if (meant.length > 1) addBest(postings, meant, times, scores, best);
  }
}

/** A term by its number and what it is worth here. */
type Meant = readonly [term: number, worth: number];

function weighedTerms(text: string, tuning: Tuning): Map<string, number> {
  const all = termsOf(text.slice(0, MAX_QUERY_TEXT), MAX_QUERY_TERMS * 4);
  const telling = all.filter((term) => !GRAMMAR_TERMS.has(term));
  const weighed = new Map<string, number>();
  for (const term of telling.length > 0 ? telling : all) {
    if (weighed.size >= MAX_QUERY_TERMS && !weighed.has(term)) continue;
    weighed.set(term, INTERFACE_TERMS.has(term) ? tuning.interfaceWord : 1);
  }
  return weighed;
}

function meanings(term: string, terms: ReadonlyMap<string, number>, near: NearTerms, tuning: Tuning): readonly Meant[] {
  const own = terms.get(term);
  const relatives = (RELATIVES.get(term) ?? []).flatMap((each): Meant[] => {
    const id = terms.get(each);
    return id === undefined ? [] : [[id, tuning.relative]];
  });
  if (own !== undefined) return [[own, 1], ...relatives];
  return [...near(term).map(([id, likeness]): Meant => [id, tuning.misspelt * likeness]), ...relatives];
}

function addTerm(postings: Postings, meant: Meant | undefined, times: number, scores: Float32Array): void {
  if (meant === undefined) return;
  const [term, worth] = meant;
  const weight = worth * times * (postings.rarity[term] ?? 0);
  const end = postings.starts[term + 1] ?? 0;
  for (let at = postings.starts[term] ?? 0; at < end; at += 1) {
    const tool = postings.tools[at] ?? 0;
    scores[tool] = (scores[tool] ?? 0) + weight * (postings.counts[at] ?? 0);
  }
}

function addBest(
  postings: Postings,
  meant: readonly Meant[],
  times: number,
  scores: Float32Array,
  best: Float32Array,
): void {
  const touched: number[] = [];
  for (const [term, worth] of meant) {
    const weight = worth * times * (postings.rarity[term] ?? 0);
    const end = postings.starts[term + 1] ?? 0;
    for (let at = postings.starts[term] ?? 0; at < end; at += 1) {
      const tool = postings.tools[at] ?? 0;
      const before = best[tool] ?? 0;
      const now = weight * (postings.counts[at] ?? 0);
      if (before === 0) touched.push(tool);
      if (now > before) best[tool] = now;
    }
  }
  for (const tool of touched) {
    scores[tool] = (scores[tool] ?? 0) + (best[tool] ?? 0);
    best[tool] = 0;
  }
}
