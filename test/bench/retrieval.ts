// `npm run bench:retrieval`: quality and speed of the tool search. Flags: --embedder URL, --json FILE.
// The public set is read from TOOLMGR_RETRIEVAL_DIR; semantic search needs a server of test/support/tei-server.py.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import type { SearchIndex } from '@toolmgr/core';
import { createSearcher } from '../../plugins/optimizer/search/searcher.ts';
import { canReadScript, probeTexts, scriptOf } from '../../plugins/optimizer/tools/script-support.ts';
import { type EmbedClient, embedClient } from './embed-client.ts';
import { plainBm25 } from './plain-bm25.ts';
import { DEPTH, type Recall, recallOfSet } from './recall.ts';
import { entryOf, foreignSet, ownSet, publicSet, type RetrievalSet, type SetTool } from './retrieval-set.ts';

const { values } = parseArgs({
  options: {
    embedder: { type: 'string', default: process.env.TOOLMGR_EMBEDDER_URL ?? '' },
    json: { type: 'string', default: 'docs/project/retrieval.json' },
  },
});
const ROOT = join(import.meta.dirname, '..', '..');
const WAYS = { 'keyword only': 0, hybrid: 0.5, 'semantic only': 1 } as const;
const SIZES = [500, 10_000];
const INDEX_SIZES = [500, 5_000, 10_000];
/** Timings per query; the fastest counts, because the machine may be busy. */
const TURNS = 5;
const MAX_DISTANCE = 1;

const searcher = createSearcher();
const client = values.embedder === '' ? undefined : await embedClient(values.embedder);
const folder = process.env.TOOLMGR_RETRIEVAL_DIR ?? join(ROOT, '..', 'shared', 'retrieval');
const known = publicSet(folder);
const sets = known === undefined ? [ownSet()] : [known, ownSet()];
const judged = [...sets, foreignSet()];
if (known === undefined)
  console.log('The public set is missing (TOOLMGR_RETRIEVAL_DIR): only the own set is measured.');
if (client === undefined) console.log('No embedder (--embedder URL): only keyword search is measured.');

const quality: Record<string, Record<string, Readonly<Record<string, Recall>>>> = {};
for (const set of judged) {
  const ways: Record<string, Readonly<Record<string, Recall>>> = { 'plain BM25': plainQuality(set) };
  for (const [way, ratio] of Object.entries(WAYS)) {
    if (ratio === 0 || client !== undefined) ways[way] = await qualityOf(set, ratio, client);
  }
  quality[set.name] = ways;
}
const speed = { index: await indexTimes(), query: await queryTimes(client) };
report();

function plainQuality(set: RetrievalSet): Readonly<Record<string, Recall>> {
  const scoresOf = plainBm25(set.tools.map(({ name, description }) => `${name} ${description}`));
  return recallOfSet(set, ({ text }) => {
    const scores = scoresOf(text);
    const best = [...scores.keys()].filter((at) => (scores[at] ?? 0) > 0);
    best.sort((one, other) => (scores[other] ?? 0) - (scores[one] ?? 0) || one - other);
    return best.slice(0, DEPTH).map((at) => set.nameIn(set.tools[at] as SetTool));
  });
}

async function qualityOf(
  set: RetrievalSet,
  semanticRatio: number,
  embedder: EmbedClient | undefined,
): Promise<Readonly<Record<string, Recall>>> {
  const entries = set.tools.map(entryOf);
  const names = new Map(entries.map(({ key }, at) => [key, set.nameIn(set.tools[at] as SetTool)]));
  const meaning = semanticRatio > 0 ? embedder : undefined;
  const index = await searcher.index(entries, await meaning?.embed(entries.map(searcher.passageOf)));
  const questions = new Map<string, readonly Float32Array[]>();
  for (const { text } of Object.values(set.kinds).flat()) {
    if (meaning !== undefined && (await isRead(text, meaning))) {
      questions.set(text, await meaning.embed(searcher.queryTextsOf(text)));
    }
  }
  return recallOfSet(set, ({ text }) => {
    const query: Parameters<SearchIndex['find']>[0] = { text, limit: DEPTH, semanticRatio, maxDistance: MAX_DISTANCE };
    const vectors = questions.get(text);
    const matches = index.find(vectors === undefined ? query : { ...query, vectors });
    return matches.map(({ name }) => names.get(name) ?? name);
  });
}

/** Like the optimizer: texts that the model does not support use keywords. */
async function isRead(text: string, meaning: EmbedClient): Promise<boolean> {
  const script = scriptOf(text);
  return script === undefined || canReadScript(await meaning.embed(probeTexts(script)));
}

/** `count` tools, by repeating all sets with other backend names. */
function manyTools(count: number): readonly SetTool[] {
  const all = sets.flatMap(({ tools }) => tools);
  return Array.from({ length: count }, (_, at) => {
    const tool = all[at % all.length] as SetTool;
    return { ...tool, server: `${tool.server} ${Math.floor(at / all.length)}` };
  });
}

async function indexTimes(): Promise<Record<string, number>> {
  const times: Record<string, number> = {};
  await searcher.index(manyTools(1_000).map(entryOf)); // warms the compiler up
  for (const size of INDEX_SIZES) {
    const entries = manyTools(size).map(entryOf);
    const began = performance.now();
    await searcher.index(entries);
    times[size] = performance.now() - began;
  }
  return times;
}

async function queryTimes(embedder: EmbedClient | undefined): Promise<Record<string, Record<string, Percentiles>>> {
  const texts = sets.flatMap(({ kinds }) =>
    Object.values(kinds)
      .flat()
      .map(({ text }) => text),
  );
  const questions = new Map<string, readonly Float32Array[]>();
  for (const text of embedder === undefined ? [] : texts) {
    questions.set(text, (await embedder?.embed(searcher.queryTextsOf(text))) ?? []);
  }
  const result: Record<string, Record<string, Percentiles>> = {};
  for (const size of SIZES) {
    const tools = manyTools(size);
    // Only names differ between the copies; without them there are fewer texts to embed.
    const vectors = await embedder?.embed(tools.map(({ name, description }) => `${name}. ${description}`));
    const index = await searcher.index(tools.map(entryOf), vectors);
    const ways: Record<string, Percentiles> = {};
    for (const [way, semanticRatio] of Object.entries(WAYS)) {
      if (semanticRatio > 0 && embedder === undefined) continue;
      const query = { limit: 8, semanticRatio, maxDistance: MAX_DISTANCE };
      ways[way] = percentiles(texts, (text) => {
        const asked = questions.get(text);
        index.find(
          semanticRatio === 0 || asked === undefined ? { ...query, text } : { ...query, text, vectors: asked },
        );
      });
    }
    result[size] = ways;
  }
  return result;
}

interface Percentiles {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Over all texts; of each its fastest turn. */
function percentiles(texts: readonly string[], ask: (text: string) => void): Percentiles {
  for (const text of texts.slice(0, 100)) ask(text);
  const times = texts.map((text) => Math.min(...Array.from({ length: TURNS }, () => timeOf(() => ask(text)))));
  times.sort((one, other) => one - other);
  const share = (part: number): number => times[Math.floor((times.length - 1) * part)] ?? 0;
  return { p50Ms: share(0.5), p99Ms: share(0.99) };
}

function timeOf(work: () => void): number {
  const began = performance.now();
  work();
  return performance.now() - began;
}

function report(): void {
  for (const [set, ways] of Object.entries(quality)) {
    for (const [way, kinds] of Object.entries(ways)) {
      for (const [kind, { at1, at5, at8, mrr }] of Object.entries(kinds)) {
        const figures = [at1, at5, at8, mrr].map((each) => each.toFixed(3)).join('  ');
        console.log(`${set.padEnd(7)} ${way.padEnd(14)} ${kind.padEnd(16)} ${figures}`);
      }
    }
  }
  console.log('index ms', JSON.stringify(speed.index));
  for (const [size, ways] of Object.entries(speed.query)) {
    for (const [way, { p50Ms, p99Ms }] of Object.entries(ways)) {
      console.log(`query, ${size} tools, ${way}: p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms`);
    }
  }
  const written = {
    date: new Date().toISOString(),
    node: process.version,
    model: client?.model ?? null,
    quality,
    speed,
  };
  writeFileSync(join(ROOT, values.json), `${JSON.stringify(written, rounded, 2)}\n`);
  console.log(`written to ${values.json}; columns: recall@1, @5, @8, MRR`);
}

function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Math.round(value * 1_000) / 1_000 : value;
}
