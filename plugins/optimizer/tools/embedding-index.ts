import { setTimeout as delay } from 'node:timers/promises';
import { backOffMs, createOutageLog, type Log } from '@toolmgr/core';
import type { Embedder } from '@toolmgr/plugins/kit/extension-points';
import { LRUCache } from 'lru-cache';

import type { Script } from './paraphrases.ts';
import { canReadScript, probeTexts, scriptOf } from './script-support.ts';
import { openVectorCache, type VectorCache } from './vector-cache.ts';

/** The vectors of passages and queries. */
export interface EmbeddingIndex {
  /** The cached vector of each passage. */
  known(passages: readonly string[]): readonly (Float32Array | undefined)[];
  /** Embeds passages in the background and calls `done`; again after a change of the model. */
  embedInBackground(passages: readonly string[], done: (vectors: readonly Float32Array[]) => void): void;
  /**
   * Vectors of the texts of one query, the whole first, or why there are none. One reason is that the model cannot read the
   * script of the query, which is tested once per model. Never rejects.
   */
  embedQuery(
    texts: readonly string[],
    signal: AbortSignal,
  ): Promise<{ readonly vectors: readonly Float32Array[] } | { readonly unavailable: string }>;
  /** Why embedding is unavailable; `undefined` when it is available. */
  unavailable(): string | undefined;
}

/** What {@link createEmbeddingIndex} needs. */
export interface EmbeddingIndexParts {
  readonly embedder: Embedder;
  /** Folder of the persistent vectors. */
  readonly folder: string;
  readonly log: Log;
  now(): number;
  /** Aborted when the gateway stops. */
  readonly signal: AbortSignal;
}

interface EmbeddingRequest {
  readonly passages: readonly string[];
  readonly done: (vectors: readonly Float32Array[]) => void;
}

const RETRY = { firstMs: 500, maxMs: 30_000 };
const MAX_QUESTIONS = 1_000; // cached query texts
const MAX_REQUESTS = 32; // pending lists, and completed lists that are embedded again for a new model
const MAX_IN_FLIGHT = 16; // queries in flight; further ones use keywords only
const NO_ANSWER = 'the embedding service does not answer';
const OTHER_MODEL = 'the tools are being embedded by another model';
const BUSY = 'too many searches are being embedded';

/**
 * Embeds in the background and caches vectors. While the service is unavailable, searches do not wait for it; it is retried
 * after 500 ms, with back-off up to 30 s.
 *
 * A model returns meaningless vectors for a script that it was not trained on. So the first query in a script also embeds
 * paraphrases in that script, to test whether the model can read it (`canReadScript`).
 */
export function createEmbeddingIndex({ embedder, folder, log, now, signal }: EmbeddingIndexParts): EmbeddingIndex {
  const questions = new LRUCache<string, Float32Array>({ max: MAX_QUESTIONS });
  const readable = new Map<Script, boolean>();
  const pending: EmbeddingRequest[] = [];
  const completed: EmbeddingRequest[] = [];
  let cache: VectorCache | undefined;
  let identity: string | undefined;
  const outage = createOutageLog(
    { log, now },
    { began: 'the embedder is unavailable: tools are found by keywords only', over: 'the embedder is available again' },
  );
  let isWorking = false;
  let inFlight = 0;

  /** Clears the cache when the service has another model. */
  const identify = async (): Promise<VectorCache> => {
    const current = await embedder.identity(signal);
    if (cache === undefined || current !== identity) {
      const isOther = identity !== undefined;
      cache = await openVectorCache({ folder, identity: current, log });
      identity = current;
      if (isOther) embedAgain();
    }
    return cache;
  };

  const embedAgain = (): void => {
    log.info('the embedding model has changed: tools are embedded again');
    questions.clear();
    readable.clear();
    pending.unshift(...completed.splice(0));
  };

  const embedded = async (cached: VectorCache, passages: readonly string[]): Promise<readonly Float32Array[]> => {
    const missing = [...new Set(passages.filter((passage) => cached.get(passage) === undefined))];
    const fresh = missing.length === 0 ? [] : await embedder.embed(missing, signal);
    const length = fresh[0]?.length;
    if (length !== undefined && cached.dimensions() !== undefined && cached.dimensions() !== length) {
      cached.clear(); // another model with the same name
      embedAgain();
      return embedded(cached, passages);
    }
    const got = new Map(missing.map((passage, at) => [passage, fresh[at]]));
    for (const [passage, vector] of got) if (vector !== undefined) cached.set(passage, vector);
    if (missing.length > 0) await cached.save();
    // from the response first: a list larger than the cache would otherwise be embedded again and again
    return passages.flatMap((passage) => got.get(passage) ?? cached.get(passage) ?? []);
  };

  const runNext = async (): Promise<void> => {
    const cached = await identify();
    const [request] = pending;
    if (request === undefined) {
      await embedder.embed(['health check'], signal);
      return;
    }
    const vectors = await embedded(cached, request.passages);
    pending.splice(pending.indexOf(request), 1);
    completed.push(request);
    if (completed.length > MAX_REQUESTS) completed.shift();
    request.done(vectors);
  };

  const work = async (): Promise<void> => {
    if (isWorking) return;
    isWorking = true;
    let failures = 0;
    while (!signal.aborted && (pending.length > 0 || outage.isOn)) {
      try {
        await runNext();
        failures = 0;
        outage.over();
      } catch (cause) {
        if (signal.aborted) break;
        outage.failed(cause);
        failures++;
        await delay(backOffMs(failures, RETRY), undefined, { signal, ref: false }).catch(() => undefined);
      }
    }
    isWorking = false;
  };

  const recordScript = (script: Script, vectors: readonly Float32Array[]): void => {
    const isRead = canReadScript(vectors);
    readable.set(script, isRead);
    if (!isRead) log.warn('the embedding model cannot read a script: searches in it use keywords only', { script });
  };

  const ask = async (texts: readonly string[], script: Script | undefined, given: AbortSignal) => {
    const probeTextsOfScript = script === undefined || readable.has(script) ? [] : probeTexts(script);
    inFlight += 1;
    try {
      const all = await embedder.embed([...texts, ...probeTextsOfScript], AbortSignal.any([signal, given]));
      const vectors = all.slice(0, texts.length);
      const length = cache?.dimensions();
      if (length !== undefined && vectors[0]?.length !== length) {
        cache?.clear(); // another model with the same name
        embedAgain();
        void work();
        return { unavailable: OTHER_MODEL };
      }
      if (script !== undefined && probeTextsOfScript.length > 0) recordScript(script, all.slice(texts.length));
      if (script !== undefined && readable.get(script) === false) return { unavailable: unreadable(script) };
      // copies, because all vectors of a response share one block of memory
      for (const [at, vector] of vectors.entries()) questions.set(texts[at] ?? '', vector.slice());
      return { vectors };
    } catch (cause) {
      if (!given.aborted && !signal.aborted) {
        outage.failed(cause);
        void work();
      }
      return { unavailable: NO_ANSWER };
    } finally {
      inFlight -= 1;
    }
  };

  return {
    known: (passages) => passages.map((passage) => cache?.get(passage)),
    embedInBackground(passages, done) {
      pending.push({ passages, done });
      if (pending.length > MAX_REQUESTS) pending.shift();
      void work();
    },
    async embedQuery(texts, given) {
      const script = scriptOf(texts[0] ?? '');
      if (script !== undefined && readable.get(script) === false) return { unavailable: unreadable(script) };
      const cached = texts.flatMap((text) => questions.get(text) ?? []);
      if (cached.length === texts.length) return { vectors: cached };
      if (outage.isOn) return { unavailable: NO_ANSWER };
      return inFlight >= MAX_IN_FLIGHT ? { unavailable: BUSY } : ask(texts, script, given);
    },
    unavailable: () => (outage.isOn ? NO_ANSWER : undefined),
  };
}

function unreadable(script: Script): string {
  return `the embedding model cannot read ${script} script`;
}
