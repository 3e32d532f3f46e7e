import {
  type Call,
  type Core,
  type Era,
  itemBytes,
  type JsonObject,
  type Searcher,
  type ToolEntry,
  toolFailure,
} from '@toolmgr/core';
import type { OptimizerConfig } from './config.ts';
import type { EmbeddingIndex } from './embedding-index.ts';
import { foundAnswer } from './found-answer.ts';
import type { IndexCache } from './index-cache.ts';
import type { Answered } from './report-search.ts';

/** What a search needs. */
export interface FinderParts {
  readonly core: Pick<Core, 'reachable' | 'toolsFor'>;
  readonly config: OptimizerConfig;
  readonly searcher: Pick<Searcher, 'queryTextsOf'>;
  readonly indexCache: IndexCache;
  /** Absent when words decide alone. */
  readonly meaning: EmbeddingIndex | undefined;
}

const MAX_TEXT = 4_000; // a description of a tool, not the task with its material
const MAX_KEYWORDS = 32;
const MAX_KEYWORD = 100;

interface Wanted {
  readonly text: string;
  readonly keywords: readonly string[];
}

/**
 * Makes the answer of `find_tool`: the best of the tools that the caller may use, and what the caller saves by not having
 * all of them in the list.
 */
export function createFinder(parts: FinderParts): (call: Call) => Promise<Answered> {
  const { core, config, indexCache, meaning } = parts;
  const semanticRatio = Number(config.hybridSearchSemanticRatio);
  const maxDistance = Number(config.semanticDistanceThreshold);
  const views = new WeakMap<readonly ToolEntry[], View>();
  const viewOf = (shown: readonly ToolEntry[], era: Era): View => {
    const view = views.get(shown) ?? {
      byName: new Map(shown.map((tool) => [tool.key, tool])),
      bytes: bytesOf(shown, era),
    };
    views.set(shown, view);
    return view;
  };
  return async (call) => {
    const wanted = wantedBy(call.arguments);
    if ('problem' in wanted) return { result: toolFailure(wanted.problem) };
    const all = core.reachable(call);
    const shown = await core.toolsFor(call);
    const shelf = await indexCache.shelfOf(all);
    const asked = meaning && (await questioned(parts, wanted.text, shelf.dimensions, call.signal));
    const vectors = asked !== undefined && 'vectors' in asked ? asked.vectors : undefined;
    const view = viewOf(shown, call.client.era);
    const matches = shelf.index.find({
      ...wanted,
      limit: config.maxToolsToReturn,
      ...(shown === all ? {} : { allowed: view.byName }),
      ...(vectors === undefined ? {} : { vectors }),
      semanticRatio: vectors === undefined ? 0 : semanticRatio,
      maxDistance,
    });
    const found = matches.flatMap(({ name }) => view.byName.get(name) ?? []);
    const away = asked !== undefined && 'away' in asked ? asked.away : undefined;
    return foundAnswer({ found, baselineBytes: view.bytes, away }, call.client);
  };
}

function wantedBy({ tool_description: text, tool_keywords: given }: JsonObject): Wanted | { readonly problem: string } {
  if (typeof text !== 'string' || text.trim() === '') {
    return { problem: 'tool_description must say in words what the tool is to do' };
  }
  if (text.length > MAX_TEXT) {
    return { problem: `tool_description has ${text.length} characters, at most ${MAX_TEXT} are read; say it shorter` };
  }
  const keywords = typeof given === 'string' ? given.split(/[,\s]+/) : (given ?? []);
  if (!Array.isArray(keywords) || !keywords.every((word): word is string => typeof word === 'string')) {
    return { problem: 'tool_keywords must be a list of words' };
  }
  if (keywords.length > MAX_KEYWORDS || keywords.some(({ length }) => length > MAX_KEYWORD)) {
    return { problem: `tool_keywords holds at most ${MAX_KEYWORDS} words of at most ${MAX_KEYWORD} characters` };
  }
  return { text, keywords: keywords.filter((word) => word !== '') };
}

/** The vectors of a question, or why the meaning has no say in the answer. */
async function questioned(
  { searcher, meaning }: FinderParts,
  text: string,
  dimensions: number | undefined,
  signal: AbortSignal,
): Promise<{ readonly vectors: readonly Float32Array[] } | { readonly away: string } | undefined> {
  const away = meaning?.away();
  if (away !== undefined) return { away };
  if (dimensions === undefined) return { away: 'the tools are not embedded yet' };
  const asked = await meaning?.question(searcher.queryTextsOf(text), signal);
  if (asked === undefined || 'away' in asked) return asked;
  return asked.vectors[0]?.length === dimensions ? asked : { away: 'the tools are being embedded by another model' };
}

/** The tools that a caller may use; the same for all callers where no policy filters, so it is kept by their list. */
interface View {
  readonly byName: ReadonlyMap<string, ToolEntry>;
  /** What all of them would take in a list. */
  readonly bytes: number;
}

function bytesOf(tools: readonly ToolEntry[], era: Era): number {
  return tools.reduce((sum, tool) => sum + itemBytes(tool, era).length, 0);
}
