import { setImmediate } from 'node:timers/promises';
import type { Searcher, SearchIndex, SearchMatch, SearchQuery, ToolEntry } from '@toolmgr/core';
import { highest } from './blend.ts';
import { type ByName, byName, liftNamed } from './by-name.ts';
import { MAX_QUERY_TEXT } from './keyword.ts';
import { type NearTerms, nearTerms } from './near-terms.ts';
import { partsOf } from './parts.ts';
import { passageOf } from './passage.ts';
import { pick } from './pick.ts';
import { type Postings, postingsBuilder } from './postings.ts';
import { type Ground, rank } from './rank.ts';
import { textsOf } from './read-tool.ts';
import { createScoreArena, type ScoreArena } from './score-arena.ts';
import { matrixOf } from './semantic.ts';
import { TUNING, type Tuning } from './tuning.ts';

/** Matches given at most, whatever is asked for (vmcp §8). */
export const MAX_LIMIT = 50;
/** Tools read between two turns of the event loop. */
const TOOLS_PER_TURN = 100;

/** Makes a searcher over words and meaning. Its indexes hold no session: callers differ by `SearchQuery.allowed`. */
export function createSearcher(tuning: Tuning = TUNING): Searcher {
  // a list is indexed once more when its vectors have come: its words are the same
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

/** What an index knows without vectors. */
interface WordIndex {
  /** By name, so that the order of equal scores does not depend on the order of the catalogue. */
  readonly tools: readonly ToolEntry[];
  /** Where each of them stands in the list that was given. */
  readonly order: Uint32Array;
  readonly postings: Postings;
  readonly near: NearTerms;
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
    near: nearTerms(postings.terms),
    names: byName(tools),
    arena: createScoreArena(tools.length),
  };
}

function byKey(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

interface Indexed extends Ground {
  readonly tools: readonly ToolEntry[];
  readonly names: ByName;
  /** What callers may find: they come in classes that share an object, so each is asked once. */
  readonly masks: WeakMap<NonNullable<SearchQuery['allowed']>, Uint8Array>;
}

function indexOver({ tools, names }: WordIndex, ground: Ground): SearchIndex {
  const indexed: Indexed = { ...ground, tools, names, masks: new WeakMap() };
  return { find: (query) => found(indexed, query) };
}

function found(indexed: Indexed, query: SearchQuery): readonly SearchMatch[] {
  const { keywords = [], vectors, semanticRatio, maxDistance } = query;
  const text = query.text.slice(0, MAX_QUERY_TEXT);
  const [whole = '', ...parts] = partsOf(text);
  const allowed = query.allowed === undefined ? undefined : maskOf(indexed, query.allowed);
  const asked = { parts: [[whole, ...keywords].join(' '), ...parts], vectors, semanticRatio, maxDistance, allowed };
  const scores = rank(indexed, asked);
  if (vectors !== undefined && semanticRatio > 0 && semanticRatio < 1) dropBelow(scores, indexed.tuning.least);
  if (semanticRatio < 1 || vectors === undefined) liftNamed(scores, text, indexed.names, allowed);
  const limit = Math.min(Math.max(query.limit, 0), MAX_LIMIT);
  return pick(scores, limit).map((tool) => ({ name: indexed.tools[tool]?.key ?? '', score: scores[tool] ?? 0 }));
}

/** Every tool is a little near to every question: what is far behind the best only fills the answer. */
function dropBelow(scores: Float32Array, share: number): void {
  const least = highest(scores) * share;
  for (let tool = 0; tool < scores.length; tool += 1) if ((scores[tool] as number) < least) scores[tool] = 0;
}

function maskOf({ masks, tools }: Indexed, names: NonNullable<SearchQuery['allowed']>): Uint8Array {
  const known = masks.get(names);
  if (known !== undefined) return known;
  const mask = Uint8Array.from(tools, ({ key }) => Number(names.has(key)));
  masks.set(names, mask);
  return mask;
}
