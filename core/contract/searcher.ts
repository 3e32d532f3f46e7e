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
  /** What the client wants, in words. */
  readonly text: string;
  /** Words that the client thinks the tool has; they count beside the text. */
  readonly keywords?: readonly string[];
  /** Matches wanted at most. */
  readonly limit: number;
  /** Names (`ToolEntry.key`) that may be found; all when absent. Asked once per object: what changes comes as a new one. */
  readonly allowed?: Pick<ReadonlySet<string>, 'has'>;
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

/** Slot `embedders`: one protocol, or one way, of turning texts into vectors. */
export interface EmbedderKind {
  /** Makes an embedder. Does not need the service to be there. @throws GatewayFault PLAN_INVALID when settings do not fit */
  open(settings: EmbedderSettings): Promise<Embedder>;
}

/** What an embedder is opened with. */
export interface EmbedderSettings {
  /** Base URL. */
  readonly service?: string | undefined;
  /** A name, or where the model runs here, its folder. */
  readonly model?: string | undefined;
  /** Sent with every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** For one request, from its first byte to the last of its answer. */
  readonly timeoutMs: number;
}

/** Texts to unit vectors. */
export interface Embedder {
  /**
   * What the vectors depend on besides the text: vectors under another identity must not be compared with these.
   * @throws when the service has to be asked and does not answer
   */
  identity(signal: AbortSignal): Promise<string>;
  /** Unit vectors of one length, in the order of the texts, however many those are. @throws when the service fails */
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]>;
  close(): Promise<void>;
}
