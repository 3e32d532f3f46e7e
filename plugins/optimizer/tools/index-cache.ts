import { createHash } from 'node:crypto';
import { explainCause, type Log, type Searcher, type SearchIndex, type ToolEntry } from '@toolmgr/core';
import type { EmbeddingIndex } from './embedding-index.ts';

/** An index over one list of tools. */
export interface CachedIndex {
  readonly index: SearchIndex;
  /** Length of its vectors; absent when it has none (yet). */
  readonly dimensions: number | undefined;
}

/** The indexes of one gateway: one for each list of tools that differs, shared by all sessions that see it. */
export interface IndexCache {
  /** Indexes a list in the background. */
  prepare(tools: readonly ToolEntry[]): void;
  /** The index of a list, built when there is none. */
  shelfOf(tools: readonly ToolEntry[]): Promise<CachedIndex>;
}

/** What the shelves are made with. */
export interface IndexCacheParts {
  readonly searcher: Searcher;
  readonly meaning: EmbeddingIndex | undefined;
  readonly log: Log;
  /** Aborted when the gateway stops. */
  readonly signal: AbortSignal;
}

/** Lists that differ at once: capability classes, and callers with lists of their own. The oldest is built again when asked for. */
const MAX_SHELVES = 32;

/** Makes the shelves. A list that is equal to an earlier one, tool by tool, has its index already. */
export function createIndexCache(parts: IndexCacheParts): IndexCache {
  const { log } = parts;
  const byContent = new Map<string, { shelf: Promise<CachedIndex> }>();

  const build = (tools: readonly ToolEntry[], print: string): Promise<CachedIndex> => {
    const slot = { shelf: shelved(parts, tools, (better) => (slot.shelf = Promise.resolve(better))) };
    byContent.set(print, slot);
    slot.shelf.catch(() => byContent.delete(print)); // the next search tries again
    for (const oldest of byContent.keys()) {
      if (byContent.size <= MAX_SHELVES) break;
      byContent.delete(oldest);
    }
    return slot.shelf;
  };

  const prints = new WeakMap<readonly ToolEntry[], string>();
  const shelfOf = (tools: readonly ToolEntry[]): Promise<CachedIndex> => {
    const print = prints.get(tools) ?? printOf(tools);
    prints.set(tools, print);
    const slot = byContent.get(print);
    if (slot === undefined) return build(tools, print);
    byContent.delete(print); // the youngest is last
    byContent.set(print, slot);
    return slot.shelf;
  };

  return {
    shelfOf,
    prepare(tools) {
      shelfOf(tools).catch((cause: unknown) => {
        if (!parts.signal.aborted) log.error('the tools could not be indexed', { cause: explainCause(cause) });
      });
    },
  };
}

/** An index of words at once, with the vectors that are known; the others follow, and with them a better index. */
async function shelved(
  { searcher, meaning, log, signal }: IndexCacheParts,
  tools: readonly ToolEntry[],
  better: (shelf: CachedIndex) => void,
): Promise<CachedIndex> {
  if (meaning === undefined) return { index: await searcher.index(tools, [], signal), dimensions: undefined };
  const passages = tools.map((tool) => searcher.passageOf(tool));
  const known = meaning.known(passages);
  meaning.want(passages, (vectors) => {
    if (vectors.every((vector, at) => vector === known[at])) return; // they stand in the index already
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

/** What the index depends on: names, and definitions byte by byte. */
function printOf(tools: readonly ToolEntry[]): string {
  const hash = createHash('sha256');
  for (const { key, backend, definition } of tools) {
    hash.update(`${Buffer.byteLength(key)} ${Buffer.byteLength(backend)} ${definition.length}\n${key}${backend}`);
    hash.update(definition);
  }
  return hash.digest('base64url');
}
