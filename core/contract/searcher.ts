import type { ToolEntry } from './call.ts';

/**
 * Slot `searchers`: finds tools by words or by meaning. A searcher uses no embedder: its callers provide the vectors.
 */
export interface Searcher {
  /** The text of a tool that is embedded for the search by meaning; equal tools have equal texts. */
  passageOf(tool: ToolEntry): string;
  /** The texts of a query to embed: the whole query first, then its parts when it has several. At least one text. */
  queryTextsOf(text: string): readonly string[];
  /**
   * Builds an index; yields to other work meanwhile.
   *
   * Shape: `vectors[i]` is the unit vector of `passageOf(tools[i])`; a tool without one is found by words only.
   * All vectors have the same length.
   * @throws RangeError vectors of different lengths; the signal's reason when aborted
   */
  index(
    tools: readonly ToolEntry[],
    vectors?: readonly (Float32Array | undefined)[],
    signal?: AbortSignal,
  ): Promise<SearchIndex>;
}

/** An immutable index: callers share it, and a changed catalogue gets a new one. */
export interface SearchIndex {
  /** Best first; equal scores in the order of names. Synchronous. */
  find(query: SearchQuery): readonly SearchMatch[];
}

/** One query of an index. */
export interface SearchQuery {
  /** What the client wants, in words. */
  readonly text: string;
  /** Words that the client expects in the tool; searched in addition to the text. */
  readonly keywords?: readonly string[];
  /** Maximum number of matches. */
  readonly limit: number;
  /**
   * Names (`ToolEntry.key`) that may be found; all when absent. Results are cached per object: pass a new object after
   * a change.
   */
  readonly allowed?: Pick<ReadonlySet<string>, 'has'>;
  /** Unit vectors of `queryTextsOf(text)`, in its order; without them the search is by words only. */
  readonly vectors?: readonly Float32Array[];
  /** 0 words only, 1 meaning only. */
  readonly semanticRatio: number;
  /** Largest cosine distance (0 identical, 2 opposite) of a match by meaning. */
  readonly maxDistance: number;
}

/** One found tool; `score` only orders the matches of one query. */
export interface SearchMatch {
  readonly name: string;
  readonly score: number;
}
