import { setImmediate } from 'node:timers/promises';
import type { Searcher, SearchIndex, ToolEntry } from '@toolmgr/core';
import { highest } from './blend.ts';
import { type ByName, boostNamed, byName } from './by-name.ts';
import { MAX_QUERY_TEXT } from './keyword.ts';
import { passageOf } from './passage.ts';
import { type Postings, postingsBuilder } from './postings.ts';
import { partsOf } from './query-parts.ts';
import { type RankContext, rank } from './rank.ts';
import { createScoreArena, type ScoreArena } from './score-arena.ts';
import { matrixOf } from './semantic.ts';
import { type SimilarTerms, similarTerms } from './similar-terms.ts';
import { textsOf } from './tool-texts.ts';
import { topScores } from './top-scores.ts';
import { TUNING, type Tuning } from './tuning.ts';

type SearchQuery = Parameters<SearchIndex['find']>[0];

/** Maximum matches of a query (vmcp §8). */
export const MAX_LIMIT = 50;
/** Tools that are indexed before the event loop continues. */
const TOOLS_PER_TURN = 100;

/** Creates a searcher over keywords and vectors. Callers share an index; `SearchQuery.allowed` filters. */
export function createSearcher(tuning: Tuning = TUNING): Searcher {
  // a list is indexed again when its vectors arrive; its keyword index is reused
  const known = new WeakMap<readonly ToolEntry[], WordIndex>();
  return {
    passageOf,
    queryTextsOf: partsOf,
    async index(tools, vectors = [], signal) {
      signal?.throwIfAborted();
      const words = known.get(tools) ?? (await wordIndexOf(tools, tuning, signal));
      known.set(tools, words);
      const matrix = matrixOf(Array.from(words.order, (at) => vectors[at]));
      const { postings, near, arena } = words;
      return indexOver(words, { postings, near, arena, matrix, tuning });
    },
  };
}

/** The keyword part of an index. */
interface WordIndex {
  /** Sorted by name, so that equal scores have a stable order. */
  readonly tools: readonly ToolEntry[];
  /** The position of each tool in the original list. */
  readonly order: Uint32Array;
  readonly postings: Postings;
  readonly near: SimilarTerms;
  readonly names: ByName;
  readonly arena: ScoreArena;
}

async function wordIndexOf(
  given: readonly ToolEntry[],
  tuning: Tuning,
  signal: AbortSignal | undefined,
): Promise<WordIndex> {
  const order = Uint32Array.from(given.keys());
  order.sort((one, other) => byKey(given[one]?.key ?? '', given[other]?.key ?? '') || one - other);
  const tools = Array.from(order, (at) => given[at] as ToolEntry);
  const builder = postingsBuilder(tuning);
  for (const [at, tool] of tools.entries()) {
    builder.add(textsOf(tool));
    if (at % TOOLS_PER_TURN !== TOOLS_PER_TURN - 1) continue;
    await setImmediate();
    signal?.throwIfAborted();
  }
  const postings = builder.close();
  return {
    tools,
    order,
    postings,
    near: similarTerms(postings.terms),
    names: byName(tools),
    arena: createScoreArena(tools.length),
  };
}

function byKey(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

interface Indexed extends RankContext {
  readonly tools: readonly ToolEntry[];
  readonly names: ByName;
  /** Masks of allowed tools, cached by the `allowed` object that callers share. */
  readonly masks: WeakMap<NonNullable<SearchQuery['allowed']>, Uint8Array>;
}

function indexOver({ tools, names }: WordIndex, context: RankContext): SearchIndex {
  const indexed: Indexed = { ...context, tools, names, masks: new WeakMap() };
  return { find: (query) => search(indexed, query) };
}

function search(indexed: Indexed, query: SearchQuery): ReturnType<SearchIndex['find']> {
  const { keywords = [], vectors, semanticRatio, maxDistance } = query;
  const text = query.text.slice(0, MAX_QUERY_TEXT);
  const [whole = '', ...parts] = partsOf(text);
  const allowed = query.allowed === undefined ? undefined : maskOf(indexed, query.allowed);
  const rankQuery = { parts: [[whole, ...keywords].join(' '), ...parts], vectors, semanticRatio, maxDistance, allowed };
  const scores = rank(indexed, rankQuery);
  if (vectors !== undefined && semanticRatio > 0 && semanticRatio < 1) dropBelow(scores, indexed.tuning.minShare);
  if (semanticRatio < 1 || vectors === undefined) boostNamed(scores, text, indexed.names, allowed);
  const limit = Math.min(Math.max(query.limit, 0), MAX_LIMIT);
  return topScores(scores, limit).map((tool) => ({ name: indexed.tools[tool]?.key ?? '', score: scores[tool] ?? 0 }));
}

/** Drops scores far below the best: every tool has some similarity to every query. */
function dropBelow(scores: Float32Array, share: number): void {
  const minShare = highest(scores) * share;
  for (let tool = 0; tool < scores.length; tool += 1) if ((scores[tool] as number) < minShare) scores[tool] = 0;
}

function maskOf({ masks, tools }: Indexed, names: NonNullable<SearchQuery['allowed']>): Uint8Array {
  const known = masks.get(names);
  if (known !== undefined) return known;
  const mask = Uint8Array.from(tools, ({ key }) => Number(names.has(key)));
  masks.set(names, mask);
  return mask;
}
