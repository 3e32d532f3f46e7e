import { type KnownRuns, termsOf } from './tokenize.ts';
import type { ToolTexts } from './tool-texts.ts';
import { FIELDS, type Tuning } from './tuning.ts';

/** The inverted index: the tools of each term with their weights. Tools and terms are numbers. */
export interface Postings {
  readonly size: number;
  /** Every term, with its number. */
  readonly terms: ReadonlyMap<string, number>;
  /** Tools of term `t`: `tools[starts[t]]` up to `tools[starts[t + 1]]`; `counts` in parallel, 0 to below 1. */
  readonly starts: Uint32Array;
  readonly tools: Uint32Array;
  readonly counts: Float32Array;
  /** Inverse document frequency by term. */
  readonly rarity: Float32Array;
  /** Inverse document frequency of an unknown term. */
  readonly unknown: number;
}

/** Maximum terms of one field of one tool. */
const MAX_FIELD_TERMS = 1_000;

/** Maximum count of a term in one field. Each repetition still counts for the field's length, which lowers all weights. */
const MAX_TIMES = 3;

/** Collects the texts of tools and builds the inverted index. */
export function postingsBuilder(tuning: Tuning): { add(texts: ToolTexts): void; close(): Postings } {
  const terms = new Map<string, number>();
  const uses = useLog();
  const runs: KnownRuns = new Map();
  const lengths: number[] = [];
  const totals = FIELDS.map(() => 0);
  const times: number[] = []; // by term, in the current field; 0 between fields
  let size = 0;
  return {
    add(texts) {
      FIELDS.forEach((field, at) => {
        const words = termsOf(texts[field], MAX_FIELD_TERMS, runs);
        const met: number[] = [];
        for (const word of words) {
          const term = numberOf(word, terms);
          const before = times[term] ?? 0;
          if (before === 0) met.push(term);
          times[term] = before + 1;
        }
        for (const term of met) {
          uses.add(term, size, at, Math.min(times[term] as number, MAX_TIMES));
          times[term] = 0;
        }
        lengths.push(words.length);
        totals[at] = (totals[at] ?? 0) + words.length;
      });
      size += 1;
    },
    close: () =>
      closed({ terms, uses, lengths, means: totals.map((total) => total / Math.max(size, 1)), size }, tuning),
  };
}

function numberOf(word: string, terms: Map<string, number>): number {
  const known = terms.get(word);
  if (known !== undefined) return known;
  terms.set(word, terms.size);
  return terms.size - 1;
}

/** Term counts by tool and field, in the order of tools, stored in typed blocks. */
interface UseLog {
  add(term: number, tool: number, field: number, times: number): void;
  /** Visits every use in order. */
  each(visit: (term: number, tool: number, field: number, times: number) => void): void;
}

const BLOCK_USES = 32_768;
const NUMBERS = 3; // of one use: term, tool, field and times

function useLog(): UseLog {
  const blocks: Uint32Array[] = [];
  let count = 0;
  return {
    add(term, tool, field, times) {
      const at = (count % BLOCK_USES) * NUMBERS;
      if (at === 0) blocks.push(new Uint32Array(BLOCK_USES * NUMBERS));
      const block = blocks[blocks.length - 1] as Uint32Array;
      block[at] = term;
      block[at + 1] = tool;
      block[at + 2] = field * (MAX_TIMES + 1) + times;
      count += 1;
    },
    each(visit) {
      for (let use = 0; use < count; use += 1) {
        const block = blocks[Math.floor(use / BLOCK_USES)] as Uint32Array;
        const at = (use % BLOCK_USES) * NUMBERS;
        const last = block[at + 2] as number;
        const [term, tool] = [block[at] as number, block[at + 1] as number];
        visit(term, tool, Math.floor(last / (MAX_TIMES + 1)), last % (MAX_TIMES + 1));
      }
    },
  };
}

interface Collected {
  readonly terms: ReadonlyMap<string, number>;
  readonly uses: UseLog;
  readonly lengths: readonly number[];
  readonly means: readonly number[];
  readonly size: number;
}

/** BM25F: weighted, length-normalised frequencies of all fields are summed before saturation. */
function closed(collected: Collected, tuning: Tuning): Postings {
  const { terms, uses, size } = collected;
  const { starts, count } = placesOf(uses, terms.size);
  const rarity = new Float32Array(terms.size);
  const [tools, counts] = [new Uint32Array(count), new Float32Array(count)];
  const ends = starts.slice(0, terms.size); // by term, the position of its next tool
  uses.each((term, tool, field, times) => {
    const end = ends[term] as number;
    const isKnown = end > (starts[term] as number) && tools[end - 1] === tool;
    const at = isKnown ? end - 1 : end;
    tools[at] = tool;
    counts[at] = (counts[at] as number) + weighted(collected, tuning, tool, field, times);
    ends[term] = at + 1;
  });
  for (let at = 0; at < count; at += 1) {
    counts[at] = (counts[at] as number) / (tuning.saturation + (counts[at] as number));
  }
  for (let term = 0; term < terms.size; term += 1) {
    rarity[term] = rarityOf((starts[term + 1] as number) - (starts[term] as number), size);
  }
  return { size, terms, starts, tools, counts, rarity, unknown: rarityOf(0, size) };
}

/** The start of each term's tools. A tool counts once for all its fields; uses come in the order of tools. */
function placesOf(uses: UseLog, terms: number): { readonly starts: Uint32Array; readonly count: number } {
  const starts = new Uint32Array(terms + 1);
  const last = new Int32Array(terms).fill(-1);
  uses.each((term, tool) => {
    if (last[term] === tool) return;
    last[term] = tool;
    starts[term + 1] = (starts[term + 1] as number) + 1;
  });
  for (let term = 0; term < terms; term += 1) {
    starts[term + 1] = (starts[term + 1] as number) + (starts[term] as number);
  }
  return { starts, count: starts[terms] as number };
}

function weighted({ lengths, means }: Collected, tuning: Tuning, tool: number, field: number, times: number): number {
  const name = FIELDS[field] ?? 'description';
  const length = (lengths[tool * FIELDS.length + field] as number) / (means[field] || 1);
  return (tuning.weights[name] * times) / (1 - tuning.lengths[name] + tuning.lengths[name] * length);
}

function rarityOf(having: number, size: number): number {
  return Math.log(1 + (size - having + 0.5) / (having + 0.5));
}
