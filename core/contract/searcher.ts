import type { ToolEntry } from './tool.ts';

/** Slot `searchers`: finds tools by words or meaning. */
export interface Searcher {
  index(tools: readonly ToolEntry[]): Promise<SearchIndex>;
}

/** A built index; replaced as a whole on change. */
export interface SearchIndex {
  find(query: string, limit: number): Promise<readonly SearchMatch[]>;
}

/** One found tool, best first; `score` only orders matches of one query. */
export interface SearchMatch {
  readonly name: string;
  readonly score: number;
}

/** Slot `embedders`: texts to unit vectors. */
export interface Embedder {
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]>;
}
