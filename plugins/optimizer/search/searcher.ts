import { setImmediate } from 'node:timers/promises';
import type { Searcher, SearchIndex, SearchMatch, SearchQuery, ToolEntry } from '@toolmgr/core';
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
      const order = tools.map((_, at) => at).sort((one, other) => compared(tools[one], tools[other]));
      const sorted = order.map((at) => tools[at]).filter((tool) => tool !== undefined);
      const builder = postingsBuilder(tuning);
      for (const [at, tool] of sorted.entries()) {
        builder.add(textsOf(tool));
        if (at % TOOLS_PER_TURN !== TOOLS_PER_TURN - 1) continue;
        await setImmediate();
        signal?.throwIfAborted();
      }
      const matrix = matrixOf(order.map((at) => vectors[at]));
      const postings = builder.close();
      return indexOver(sorted, { postings, near: nearTerms(postings.terms), matrix, tuning });
    },
  };
}

function compared(one: ToolEntry | undefined, other: ToolEntry | undefined): number {
  const [left, right] = [one?.key ?? '', other?.key ?? ''];
  return left < right ? -1 : Number(left > right);
}

function indexOver(tools: readonly ToolEntry[], ground: Ground): SearchIndex {
  return { find: (query) => found(tools, ground, query) };
}

function found(tools: readonly ToolEntry[], ground: Ground, query: SearchQuery): readonly SearchMatch[] {
  const { allowed, keywords = [], vectors, semanticRatio, maxDistance } = query;
  const [whole = '', ...parts] = partsOf(query.text);
  const scores = rank(ground, {
    parts: [[whole, ...keywords].join(' '), ...parts],
    vectors,
    semanticRatio,
    maxDistance,
  });
  const limit = Math.min(Math.max(query.limit, 0), MAX_LIMIT);
  const nameOf = (tool: number): string => tools[tool]?.key ?? '';
  const best = pick(scores, limit, (tool) => allowed === undefined || allowed.has(nameOf(tool)));
  return best.map((tool) => ({ name: nameOf(tool), score: scores[tool] ?? 0 }));
}
