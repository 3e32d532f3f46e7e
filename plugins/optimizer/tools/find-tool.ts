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
import type { IndexCache } from './index-cache.ts';
import type { MeasuredResult } from './report-search.ts';
import { searchResult } from './search-result.ts';

/** What {@link createFinder} needs. */
export interface FinderParts {
  readonly core: Pick<Core, 'reachable' | 'toolsFor'>;
  readonly config: OptimizerConfig;
  readonly searcher: Pick<Searcher, 'queryTextsOf'>;
  readonly indexCache: IndexCache;
  /** Absent when search uses keywords only. */
  readonly embeddings: EmbeddingIndex | undefined;
}

const MAX_TEXT = 4_000; // enough for a description; the task's data does not belong here
const MAX_KEYWORDS = 32;
const MAX_KEYWORD = 100;

interface SearchRequest {
  readonly text: string;
  readonly keywords: readonly string[];
}

/**
 * Creates the handler of `find_tool`: the best matches among the caller's tools, and the tokens saved compared to the full
 * list.
 */
export function createFinder(parts: FinderParts): (call: Call) => Promise<MeasuredResult> {
  const { core, config, indexCache, embeddings } = parts;
  const semanticRatio = Number(config.hybridSearchSemanticRatio);
  const maxDistance = Number(config.semanticDistanceThreshold);
  const views = new WeakMap<readonly ToolEntry[], VisibleTools>();
  const viewOf = (visible: readonly ToolEntry[], era: Era): VisibleTools => {
    const view = views.get(visible) ?? {
      byName: new Map(visible.map((tool) => [tool.key, tool])),
      bytes: bytesOf(visible, era),
    };
    views.set(visible, view);
    return view;
  };
  return async (call) => {
    const request = parseRequest(call.arguments);
    if ('problem' in request) return { result: toolFailure(request.problem) };
    const all = core.reachable(call);
    const visible = await core.toolsFor(call);
    const cached = await indexCache.indexFor(all);
    const embedded = embeddings && (await embedRequest(parts, request.text, cached.dimensions, call.signal));
    const vectors = embedded !== undefined && 'vectors' in embedded ? embedded.vectors : undefined;
    const view = viewOf(visible, call.client.era);
    const matches = cached.index.find({
      ...request,
      limit: config.maxToolsToReturn,
      ...(visible === all ? {} : { allowed: view.byName }),
      ...(vectors === undefined ? {} : { vectors }),
      semanticRatio: vectors === undefined ? 0 : semanticRatio,
      maxDistance,
    });
    const found = matches.flatMap(({ name }) => view.byName.get(name) ?? []);
    const unavailable = embedded !== undefined && 'unavailable' in embedded ? embedded.unavailable : undefined;
    return searchResult({ found, baselineBytes: view.bytes, unavailable }, call.client);
  };
}

function parseRequest({
  tool_description: text,
  tool_keywords: given,
}: JsonObject): SearchRequest | { readonly problem: string } {
  if (typeof text !== 'string' || text.trim() === '') {
    return { problem: 'tool_description must describe in words what the tool does' };
  }
  if (text.length > MAX_TEXT) {
    return { problem: `tool_description has ${text.length} characters, more than ${MAX_TEXT}; shorten it` };
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

/** The vectors of a query, or why there are none. */
async function embedRequest(
  { searcher, embeddings }: FinderParts,
  text: string,
  dimensions: number | undefined,
  signal: AbortSignal,
): Promise<{ readonly vectors: readonly Float32Array[] } | { readonly unavailable: string } | undefined> {
  const unavailable = embeddings?.unavailable();
  if (unavailable !== undefined) return { unavailable };
  if (dimensions === undefined) return { unavailable: 'the tools are not embedded yet' };
  const embedded = await embeddings?.embedQuery(searcher.queryTextsOf(text), signal);
  if (embedded === undefined || 'unavailable' in embedded) return embedded;
  return embedded.vectors[0]?.length === dimensions
    ? embedded
    : { unavailable: 'the tools are being embedded by another model' };
}

/** The tools that a caller may use; cached by the list, which callers without a filter share. */
interface VisibleTools {
  readonly byName: ReadonlyMap<string, ToolEntry>;
  /** Size of all of them in a list. */
  readonly bytes: number;
}

function bytesOf(tools: readonly ToolEntry[], era: Era): number {
  return tools.reduce((sum, tool) => sum + itemBytes(tool, era).length, 0);
}
