import { setImmediate } from 'node:timers/promises';
import type { Searcher, SearchIndex, SearchMatch, SearchQuery, ToolEntry } from '@toolmgr/core';
import { highest } from './blend.ts';
import { type ByName, byName, liftNamed } from './by-name.ts';
import { MAX_QUERY_TEXT } from './keyword.ts';
import { nearTerms } from './near-terms.ts';
import { partsOf } from './parts.ts';
import { passageOf } from './passage.ts';
import { pick } from './pick.ts';
import { postingsBuilder } from './postings.ts';
import { type Ground, rank } from './rank.ts';
import { textsOf } from './read-tool.ts';
import { matrixOf } from './semantic.ts';
import { TUNING, type Tuning } from './tuning.ts';

/** Matches given at most, whatever is asked for (vmcp §8). */
export const MAX_LIMIT = 50;
/** Tools read between two turns of the event loop. */
const TOOLS_PER_TURN = 100;

/** Makes a searcher over words and meaning. Its indexes hold no session: callers differ by `SearchQuery.allowed`. */
export function createSearcher(tuning: Tuning = TUNING): Searcher {
  return {
    passageOf,
    questionsOf: partsOf,
    async index(tools, vectors = [], signal) {
      // By name, so that the order of equal scores does not depend on the order of the catalogue.
      const order = [...tools.entries()].sort(([, { key: one }], [, { key: other }]) =>
        one < other ? -1 : Number(one > other),
      );
      const sorted = order.map(([, tool]) => tool);
      const builder = postingsBuilder(tuning);
      for (const [at, tool] of sorted.entries()) {
        builder.add(textsOf(tool));
        if (at % TOOLS_PER_TURN !== TOOLS_PER_TURN - 1) continue;
        await setImmediate();
        signal?.throwIfAborted();
      }
      const matrix = matrixOf(order.map(([at]) => vectors[at]));
      const postings = builder.close();
      return indexOver(sorted, { postings, near: nearTerms(postings.terms), matrix, tuning });
    },
  };
}

interface Indexed extends Ground {
  readonly tools: readonly ToolEntry[];
  readonly names: ByName;
  /** What callers may find: they come in classes that share an object, so each is asked once. */
  readonly masks: WeakMap<NonNullable<SearchQuery['allowed']>, Uint8Array>;
}

function indexOver(tools: readonly ToolEntry[], ground: Ground): SearchIndex {
  const indexed: Indexed = { ...ground, tools, names: byName(tools), masks: new WeakMap() };
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
