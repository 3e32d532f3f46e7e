import type { ToolTexts } from './read-tool.ts';
import { FIELDS, type Tuning } from './tuning.ts';
import { type KnownRuns, termsOf } from './words.ts';

/** Which tools have a term, and what it counts in each; tools are numbers. */
export interface Postings {
  readonly size: number;
  /** Every term, with its number. */
  readonly terms: ReadonlyMap<string, number>;
  /** Tools of term `t`: `tools[starts[t]]` up to `tools[starts[t + 1]]`; `counts` in parallel, 0 to below 1. */
  readonly starts: Uint32Array;
  readonly tools: Uint32Array;
  readonly counts: Float32Array;
  /** How much a term tells, by how rare it is. */
  readonly rarity: Float32Array;
  /** The same of a term that no tool has. */
  readonly unknown: number;
}

/** Terms read of one field of one tool at most. */
const MAX_FIELD_TERMS = 1_000;

/** A word counts so often in a field at most, though the field grows by each: saying it again makes it cheaper. */
const MAX_TIMES = 3;

/** Collects the texts of tools one by one and closes into postings. */
export function postingsBuilder(tuning: Tuning): { add(texts: ToolTexts): void; close(): Postings } {
  const terms = new Map<string, number>();
  const uses: number[][] = []; // by term: tool, field, times, tools in rising order; flat, since there are many
  const runs: KnownRuns = new Map();
  const lengths: number[] = [];
  const totals = FIELDS.map(() => 0);
  let size = 0;
  return {
    add(texts) {
      FIELDS.forEach((field, at) => {
        const words = termsOf(texts[field], MAX_FIELD_TERMS, runs);
        const times = new Map<string, number>();
        for (const word of words) times.set(word, (times.get(word) ?? 0) + 1);
        for (const [word, count] of times) usesOf(word, terms, uses).push(size, at, Math.min(count, MAX_TIMES));
        lengths.push(words.length);
        totals[at] = (totals[at] ?? 0) + words.length;
      });
      size += 1;
    },
    close: () =>
      closed({ terms, uses, lengths, means: totals.map((total) => total / Math.max(size, 1)), size }, tuning),
  };
}

function usesOf(word: string, terms: Map<string, number>, uses: number[][]): number[] {
  const known = uses[terms.get(word) ?? -1];
  if (known !== undefined) return known;
  terms.set(word, uses.length);
  const fresh: number[] = [];
  uses.push(fresh);
  return fresh;
}

interface Collected {
  readonly terms: ReadonlyMap<string, number>;
  readonly uses: readonly (readonly number[])[];
  readonly lengths: readonly number[];
  readonly means: readonly number[];
  readonly size: number;
}

/** BM25F: weighted, length-normalised frequencies of all fields are summed before they saturate. */
function closed(collected: Collected, tuning: Tuning): Postings {
  const { terms, uses, size } = collected;
  const most = uses.reduce((sum, { length }) => sum + length / 3, 0);
  const starts = new Uint32Array(terms.size + 1);
  const rarity = new Float32Array(terms.size);
  const [tools, counts] = [new Uint32Array(most), new Float32Array(most)];
  let end = 0;
  uses.forEach((ofTerm, term) => {
    const begin = end;
    for (let at = 0; at < ofTerm.length; at += 3) {
      const tool = ofTerm[at] as number;
      if (end === begin || tools[end - 1] !== tool) end += 1;
      tools[end - 1] = tool;
      counts[end - 1] = (counts[end - 1] as number) + weighed(collected, tuning, ofTerm, at);
    }
    for (let at = begin; at < end; at += 1) {
      counts[at] = (counts[at] as number) / (tuning.saturation + (counts[at] as number));
    }
    rarity[term] = rarityOf(end - begin, size);
    starts[term + 1] = end;
  });
  return {
    size,
    terms,
    starts,
    tools: tools.slice(0, end),
    counts: counts.slice(0, end),
    rarity,
    unknown: rarityOf(0, size),
  };
}

function weighed({ lengths, means }: Collected, tuning: Tuning, ofTerm: readonly number[], at: number): number {
  const [tool, field, times] = [ofTerm[at] as number, ofTerm[at + 1] as number, ofTerm[at + 2] as number];
  const name = FIELDS[field] ?? 'description';
  const length = (lengths[tool * FIELDS.length + field] as number) / (means[field] || 1);
  return (tuning.weights[name] * times) / (1 - tuning.lengths[name] + tuning.lengths[name] * length);
}

function rarityOf(having: number, size: number): number {
  return Math.log(1 + (size - having + 0.5) / (having + 0.5));
}
