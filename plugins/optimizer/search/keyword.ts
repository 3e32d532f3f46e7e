import type { NearTerms } from './near-terms.ts';
import { GRAMMAR_TERMS, INTERFACE_TERMS } from './passing-words.ts';
import type { Postings } from './postings.ts';
import type { ScoreArena } from './score-arena.ts';
import type { Tuning } from './tuning.ts';
import { withoutValues } from './values.ts';
import { RELATIVES } from './word-families.ts';
import { termsOf } from './words.ts';

/** Terms of a query that count; what comes later is not looked at. */
export const MAX_QUERY_TERMS = 64;
/** Characters of a query that are looked at. */
export const MAX_QUERY_TEXT = 4_000;

/** What the words of a text say about each tool. */
export interface KeywordScores {
  /** By tool, 0 where no word fits. */
  readonly scores: Float32Array;
  /** Share of the text that the best tool has words for, 0 to 1: how far the words are to be trusted. */
  readonly certainty: number;
}

/** What words are looked up in. */
export interface KeywordGround {
  readonly postings: Postings;
  readonly near: NearTerms;
  readonly arena: ScoreArena;
  readonly tuning: Tuning;
}

/**
 * Scores every tool by the words of a text.
 *
 * A term, its relatives and its likely spellings count once per tool, by the best of them. The sum is multiplied by the
 * root of the share of the text that the tool covers, rare words being more of it: one word many times is less than many words once.
 * @param allowed 0 for tools that may not be found: they get 0 and do not count as the best
 */
export function keywordScores(text: string, ground: KeywordGround, allowed?: Uint8Array): KeywordScores {
  const { postings, near, arena, tuning } = ground;
  const sums: Sums = { scores: arena.take(), ...scratchOf(postings) };
  sums.covered.fill(0);
  let total = 0;
  for (const [term, weight] of weighedTerms(text, tuning)) {
    const meant = meanings(term, postings.terms, near, tuning);
    total += weight * rarityOf(meant, postings);
    addTerm(postings, meant, weight, sums);
  }
  return { scores: sums.scores, certainty: coveredShare(sums, total, allowed) };
}

/** A term by its number and what it is worth here. */
type Meant = readonly [term: number, worth: number];

interface Sums extends Scratch {
  readonly scores: Float32Array;
}

/** Numbers by tool that nobody needs after the search: of ten thousand tools they are more than all else that it makes. */
interface Scratch {
  readonly covered: Float32Array;
  /** Of the term in work, by tool; 0 between terms. */
  readonly score: Float32Array;
  readonly cover: Float32Array;
  /** Tools that have the term in work. */
  readonly touched: Uint32Array;
}

/** One for each index: a search waits for nothing, so no two use it at once. */
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

function weighedTerms(text: string, tuning: Tuning): ReadonlyMap<string, number> {
  const [said, values] = withoutValues(text.slice(0, MAX_QUERY_TEXT));
  const weighed = new Map<string, number>();
  addTerms(weighed, said, 1, tuning);
  addTerms(weighed, values, tuning.value, tuning);
  return weighed;
}

function addTerms(weighed: Map<string, number>, text: string, weight: number, tuning: Tuning): void {
  const all = termsOf(text, MAX_QUERY_TERMS * 4);
  const telling = all.filter((term) => !GRAMMAR_TERMS.has(term));
  for (const term of telling.length > 0 || weighed.size > 0 ? telling : all) {
    if (weighed.size >= MAX_QUERY_TERMS) return;
    if (!weighed.has(term)) weighed.set(term, weight * (INTERFACE_TERMS.has(term) ? tuning.interfaceWord : 1));
  }
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

/** How much a term tells: that of its best meaning; a term that nobody has tells as much as the rarest. */
function rarityOf(meant: readonly Meant[], postings: Postings): number {
  if (meant.length === 0) return postings.unknown;
  let most = 0;
  for (const [term, worth] of meant) most = Math.max(most, worth * (postings.rarity[term] as number));
  return most;
}

function addTerm(postings: Postings, meant: readonly Meant[], weight: number, sums: Sums): void {
  const { scores, covered, score, cover, touched } = sums;
  let count = 0;
  for (const [term, worth] of meant) {
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
