import type { ToolTexts } from './read-tool.ts';
import { FIELDS, type Tuning } from './tuning.ts';
import { termsOf } from './words.ts';

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

/** Collects the texts of tools one by one and closes into postings. */
export function postingsBuilder(tuning: Tuning): { add(texts: ToolTexts): void; close(): Postings } {
  const terms = new Map<string, number>();
  const uses: number[] = []; // tool, term, field, times: flat, since there are hundreds of thousands
  const lengths: number[] = [];
  const totals = new Float64Array(FIELDS.length);
  let size = 0;
  return {
    add(texts) {
      FIELDS.forEach((field, at) => {
        const words = termsOf(texts[field], MAX_FIELD_TERMS);
        const times = new Map<number, number>();
        for (const word of words) {
          const term = terms.get(word) ?? terms.size;
          if (term === terms.size) terms.set(word, term);
          times.set(term, (times.get(term) ?? 0) + 1);
        }
        for (const [term, count] of times) uses.push(size, term, at, count);
        lengths.push(words.length);
        totals[at] = (totals[at] ?? 0) + words.length;
      });
      size += 1;
    },
    close: () =>
      closed({ terms, uses, lengths, means: totals.map((total) => total / Math.max(size, 1)), size }, tuning),
  };
}

interface Collected {
  readonly terms: ReadonlyMap<string, number>;
  readonly uses: readonly number[];
  readonly lengths: readonly number[];
  readonly means: Float64Array;
  readonly size: number;
}

/** BM25F: weighted, length-normalised frequencies of all fields are summed before they saturate. */
function closed({ terms, uses, lengths, means, size }: Collected, tuning: Tuning): Postings {
  const byTerm: Map<number, number>[] = Array.from({ length: terms.size }, () => new Map());
  for (let at = 0; at < uses.length; at += 4) {
    const [tool = 0, term = 0, field = 0, times = 0] = [uses[at], uses[at + 1], uses[at + 2], uses[at + 3]];
    const name = FIELDS[field] ?? 'description';
    const length = (lengths[tool * FIELDS.length + field] ?? 0) / (means[field] || 1);
    const slope = tuning.lengths[name];
    const counted = (tuning.weights[name] * times) / (1 - slope + slope * length);
    const tools = byTerm[term];
    tools?.set(tool, (tools.get(tool) ?? 0) + counted);
  }
  const entries = byTerm.reduce((sum, tools) => sum + tools.size, 0);
  const postings = {
    starts: new Uint32Array(terms.size + 1),
    tools: new Uint32Array(entries),
    counts: new Float32Array(entries),
    rarity: new Float32Array(terms.size),
  };
  let at = 0;
  byTerm.forEach((tools, term) => {
    postings.rarity[term] = rarityOf(tools.size, size);
    for (const [tool, counted] of tools) {
      postings.tools[at] = tool;
      postings.counts[at] = counted / (tuning.saturation + counted);
      at += 1;
    }
    postings.starts[term + 1] = at;
  });
  return { size, terms, unknown: rarityOf(0, size), ...postings };
}

function rarityOf(having: number, size: number): number {
  return Math.log(1 + (size - having + 0.5) / (having + 0.5));
}
