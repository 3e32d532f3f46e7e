import { createHash } from 'node:crypto';
import { explainCause, type Log, type Searcher, type SearchIndex, type ToolEntry } from '@toolmgr/core';
import type { EmbeddingIndex } from './embedding-index.ts';

/** An index over one list of tools. */
export interface CachedIndex {
  readonly index: SearchIndex;
  /** Dimensions of its vectors; absent while there are none. */
  readonly dimensions: number | undefined;
}

/** The indexes of one gateway: one per distinct list of tools, shared by all sessions. */
export interface IndexCache {
  /** Indexes a list in the background. */
  prepare(tools: readonly ToolEntry[]): void;
  /** The index of a list; built when it is not cached. */
  indexFor(tools: readonly ToolEntry[]): Promise<CachedIndex>;
}

/** What {@link createIndexCache} needs. */
export interface IndexCacheParts {
  readonly searcher: Searcher;
  readonly embeddings: EmbeddingIndex | undefined;
  readonly log: Log;
  /** Aborted when the gateway stops. */
  readonly signal: AbortSignal;
}

/** Cached indexes: one per capability class and per individual list. The least recently used one is dropped. */
const MAX_INDEXES = 32;

/** Creates the cache. Lists with equal tools share an index. */
export function createIndexCache(parts: IndexCacheParts): IndexCache {
  const { log } = parts;
  const byContent = new Map<string, { cached: Promise<CachedIndex> }>();

  const build = (tools: readonly ToolEntry[], fingerprint: string): Promise<CachedIndex> => {
    const slot = { cached: buildIndex(parts, tools, (better) => (slot.cached = Promise.resolve(better))) };
    byContent.set(fingerprint, slot);
    slot.cached.catch(() => byContent.delete(fingerprint)); // the next search builds it again
    for (const oldest of byContent.keys()) {
      if (byContent.size <= MAX_INDEXES) break;
      byContent.delete(oldest);
    }
    return slot.cached;
  };

  const fingerprints = new WeakMap<readonly ToolEntry[], string>();
  const indexFor = (tools: readonly ToolEntry[]): Promise<CachedIndex> => {
    const fingerprint = fingerprints.get(tools) ?? fingerprintOf(tools);
    fingerprints.set(tools, fingerprint);
    const slot = byContent.get(fingerprint);
    if (slot === undefined) return build(tools, fingerprint);
    byContent.delete(fingerprint); // most recently used last
    byContent.set(fingerprint, slot);
    return slot.cached;
  };

  return {
    indexFor,
    prepare(tools) {
      indexFor(tools).catch((cause: unknown) => {
        if (!parts.signal.aborted) log.error('the tools could not be indexed', { cause: explainCause(cause) });
      });
    },
  };
}

/** Builds an index with the cached vectors; replaces it when the missing vectors have been embedded. */
async function buildIndex(
  { searcher, embeddings, log, signal }: IndexCacheParts,
  tools: readonly ToolEntry[],
  better: (cached: CachedIndex) => void,
): Promise<CachedIndex> {
  if (embeddings === undefined) return { index: await searcher.index(tools, [], signal), dimensions: undefined };
  const passages = tools.map((tool) => searcher.passageOf(tool));
  const known = embeddings.known(passages);
  embeddings.embedInBackground(passages, (vectors) => {
    if (vectors.every((vector, at) => vector === known[at])) return; // already in the index
    searcher.index(tools, vectors, signal).then(
      (index) => better({ index, dimensions: vectors[0]?.length }),
      (cause: unknown) => {
        if (!signal.aborted) log.error('the tools could not be indexed', { cause: explainCause(cause) });
      },
    );
  });
  const dimensions = known.find((vector) => vector !== undefined)?.length;
  return { index: await searcher.index(tools, known, signal), dimensions };
}

/** A hash of the names and definitions. */
function fingerprintOf(tools: readonly ToolEntry[]): string {
  const hash = createHash('sha256');
  for (const { key, backend, definition } of tools) {
    hash.update(`${Buffer.byteLength(key)} ${Buffer.byteLength(backend)} ${definition.length}\n${key}${backend}`);
    hash.update(definition);
  }
  return hash.digest('base64url');
}
