import { setTimeout as delay } from 'node:timers/promises';
import { type BackOff, backOffMs, createOutageLog, type Embedder, type Log } from '@toolmgr/core';
import { LRUCache } from 'lru-cache';
import type { Script } from './paraphrases.ts';
import { probesOf, readsBy, scriptOf } from './reading.ts';
import { openVectorCache, type VectorCache } from './vector-cache.ts';

/** The vectors of passages and questions, and whether there are any to be had. */
export interface EmbeddingIndex {
  /** Vectors that are known now, one for each passage. */
  known(passages: readonly string[]): readonly (Float32Array | undefined)[];
  /** Embeds passages in the background; `done` hears of it, and again when the model has become another. */
  want(passages: readonly string[], done: (vectors: readonly Float32Array[]) => void): void;
  /**
   * Vectors of the texts of one question, the whole first, or why there are none: also when the model cannot read the
   * script of the question, which is found out once per model. Never rejects.
   */
  question(
    texts: readonly string[],
    signal: AbortSignal,
  ): Promise<{ readonly vectors: readonly Float32Array[] } | { readonly away: string }>;
  /** Why nothing can be embedded at the moment; `undefined` when it can, as far as is known. */
  away(): string | undefined;
}

/** What it is made with. */
export interface EmbeddingIndexParts {
  readonly embedder: Embedder;
  /** Where vectors are kept over restarts. */
  readonly folder: string;
  readonly log: Log;
  now(): number;
  /** Aborted when the gateway stops. */
  readonly signal: AbortSignal;
}

interface Wish {
  readonly passages: readonly string[];
  readonly done: (vectors: readonly Float32Array[]) => void;
}

const RETRY: BackOff = { firstMs: 500, maxMs: 30_000 };
const MAX_QUESTIONS = 1_000; // texts of questions whose vectors are kept
const MAX_WISHES = 32; // lists waiting to be embedded, and lists told of another model
const MAX_ASKING = 16; // questions at the service at once; more are answered by words
const AWAY = 'the embedding service does not answer';
const OTHER = 'the tools are being embedded by another model';
const BUSY = 'too many searches are being embedded';

/**
 * Embeds in the background, keeps what it got, and stands back while the service is away: searches do not wait for one that
 * is known to be silent, it is asked again after 500 ms, then less and less often, up to every 30 s, until it answers.
 *
 * What a model makes of a script it was not trained on looks like vectors and means nothing, yet it would have the half of
 * every vote. So with the first question in a script some paraphrases in it are embedded (`readsBy`).
 */
export function createEmbeddingIndex({ embedder, folder, log, now, signal }: EmbeddingIndexParts): EmbeddingIndex {
  const questions = new LRUCache<string, Float32Array>({ max: MAX_QUESTIONS });
  const readable = new Map<Script, boolean>();
  const waiting: Wish[] = [];
  const served: Wish[] = [];
  let cache: VectorCache | undefined;
  let identity: string | undefined;
  const outage = createOutageLog(
    { log, now },
    { began: 'the embedder is away: tools are found by words only', over: 'the embedder is back' },
  );
  let isWorking = false;
  let asking = 0;

  /** The service may have been restarted with another model: then nothing that is kept fits any more. */
  const identify = async (): Promise<VectorCache> => {
    const said = await embedder.identity(signal);
    if (cache === undefined || said !== identity) {
      const isOther = identity !== undefined;
      cache = await openVectorCache({ folder, identity: said, log });
      identity = said;
      if (isOther) startOver();
    }
    return cache;
  };

  const startOver = (): void => {
    log.info('the embedding model has changed: tools are embedded again');
    questions.clear();
    readable.clear();
    waiting.unshift(...served.splice(0));
  };

  const embedded = async (kept: VectorCache, passages: readonly string[]): Promise<readonly Float32Array[]> => {
    const missing = [...new Set(passages.filter((passage) => kept.get(passage) === undefined))];
    const fresh = missing.length === 0 ? [] : await embedder.embed(missing, signal);
    const length = fresh[0]?.length;
    if (length !== undefined && kept.dimensions() !== undefined && kept.dimensions() !== length) {
      kept.clear(); // the same name, another model
      startOver();
      return embedded(kept, passages);
    }
    const got = new Map(missing.map((passage, at) => [passage, fresh[at]]));
    for (const [passage, vector] of got) if (vector !== undefined) kept.set(passage, vector);
    if (missing.length > 0) await kept.save();
    // from the answer first: a list that is larger than what is kept is embedded once, not for ever
    return passages.flatMap((passage) => got.get(passage) ?? kept.get(passage) ?? []);
  };

  const turn = async (): Promise<void> => {
    const kept = await identify();
    const [wish] = waiting;
    if (wish === undefined) {
      await embedder.embed(['is anybody there'], signal);
      return;
    }
    const vectors = await embedded(kept, wish.passages);
    waiting.splice(waiting.indexOf(wish), 1);
    served.push(wish);
    if (served.length > MAX_WISHES) served.shift();
    wish.done(vectors);
  };

  const work = async (): Promise<void> => {
    if (isWorking) return;
    isWorking = true;
    let failures = 0;
    while (!signal.aborted && (waiting.length > 0 || outage.isOn)) {
      try {
        await turn();
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

  const learn = (script: Script, vectors: readonly Float32Array[]): void => {
    const isRead = readsBy(vectors);
    readable.set(script, isRead);
    if (!isRead) log.warn('the embedding model cannot read a script: words alone decide searches in it', { script });
  };

  const ask = async (texts: readonly string[], script: Script | undefined, given: AbortSignal) => {
    const probes = script === undefined || readable.has(script) ? [] : probesOf(script);
    asking += 1;
    try {
      const all = await embedder.embed([...texts, ...probes], AbortSignal.any([signal, given]));
      const vectors = all.slice(0, texts.length);
      const length = cache?.dimensions();
      if (length !== undefined && vectors[0]?.length !== length) {
        cache?.clear(); // the same name, another model
        startOver();
        void work();
        return { away: OTHER };
      }
      if (script !== undefined && probes.length > 0) learn(script, all.slice(texts.length));
      if (script !== undefined && readable.get(script) === false) return { away: unread(script) };
      // copies: the vectors of one answer lie in one block, and one that is kept would keep them all
      for (const [at, vector] of vectors.entries()) questions.set(texts[at] ?? '', vector.slice());
      return { vectors };
    } catch (cause) {
      if (!given.aborted && !signal.aborted) {
        outage.failed(cause);
        void work();
      }
      return { away: AWAY };
    } finally {
      asking -= 1;
    }
  };

  return {
    known: (passages) => passages.map((passage) => cache?.get(passage)),
    want(passages, done) {
      waiting.push({ passages, done });
      if (waiting.length > MAX_WISHES) waiting.shift();
      void work();
    },
    async question(texts, given) {
      const script = scriptOf(texts[0] ?? '');
      if (script !== undefined && readable.get(script) === false) return { away: unread(script) };
      const kept = texts.flatMap((text) => questions.get(text) ?? []);
      if (kept.length === texts.length) return { vectors: kept };
      if (outage.isOn) return { away: AWAY };
      return asking >= MAX_ASKING ? { away: BUSY } : ask(texts, script, given);
    },
    away: () => (outage.isOn ? AWAY : undefined),
  };
}

function unread(script: Script): string {
  return `the embedding model cannot read ${script} script`;
}
