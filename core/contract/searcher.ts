import type { ToolEntry } from './tool.ts';

/** Slot `searchers`: finds tools by words or meaning. It knows no embedder: whoever asks brings the vectors. */
export interface Searcher {
  /** The text of a tool that is embedded for the search by meaning; equal tools give equal texts. */
  passageOf(tool: ToolEntry): string;
  /** What of a query is embedded: the whole first, then its parts when it asks for several things. At least one text. */
  questionsOf(text: string): readonly string[];
  /**
   * Builds an index, giving way to other work while it does.
   *
   * Shape: `vectors[i]` is the unit vector of `passageOf(tools[i])`; a tool without one is found by words only.
   * All vectors have one length.
   * @throws RangeError vectors of different lengths; the signal's reason when aborted
   */
  index(
    tools: readonly ToolEntry[],
    vectors?: readonly (Float32Array | undefined)[],
    signal?: AbortSignal,
  ): Promise<SearchIndex>;
}

/** A built index, never changed: callers share it, and a changed catalogue gets a new one. */
export interface SearchIndex {
  /** Best first; equal scores in the order of names. Nothing is awaited. */
  find(query: SearchQuery): readonly SearchMatch[];
}

/** One question to an index. */
export interface SearchQuery {
  /** What the asker wants, in words. */
  readonly text: string;
  /** Words that the asker thinks the tool has; they count beside the text. */
  readonly keywords?: readonly string[];
  /** Matches wanted at most. */
  readonly limit: number;
  /** Names (`ToolEntry.key`) that may be found; all when absent. Read once per set: what changes comes as a new one. */
  readonly allowed?: ReadonlySet<string>;
  /** Unit vectors of `questionsOf(text)`, in its order; without them the words decide alone. */
  readonly vectors?: readonly Float32Array[];
  /** 0 words only, 1 meaning only. */
  readonly semanticRatio: number;
  /** Cosine distance, 0 identical to 2 opposite, over which the meaning finds nothing. */
  readonly maxDistance: number;
}

/** One found tool; `score` only orders the matches of one query. */
export interface SearchMatch {
  readonly name: string;
  readonly score: number;
}

/** Slot `embedders`: texts to unit vectors. */
export interface Embedder {
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]>;
}
