import { type Dots, dotsModule, LANES, MAX_WIDTH } from './dots-kernel.ts';

/** Unit vectors of tools in one block; zeros for a tool without a vector. */
export interface Matrix {
  /** Dimensions of a vector. */
  readonly length: number;
  readonly known: Uint8Array;
  /** Rows of 16-bit numbers, then vectors, then sums. */
  readonly memory: WebAssembly.Memory;
  /** Functions for scalar products, by the number of query vectors. */
  readonly dots: Map<number, Dots>;
}

const PAGE_BYTES = 65_536;
/** The 16-bit integer for 1. Products of unit vectors are accurate to about 0.00001. */
const ONE = 32_767;
/** Tolerance, larger than the error of a product: a tool at exactly the distance is found. */
const ROUNDING = 1e-4;

/** Modules by width, compiled on first use in under a millisecond. */
const modules = new Map<number, WebAssembly.Module>();

/** Copies vectors into one block. @throws RangeError for vectors of different lengths */
export function matrixOf(vectors: readonly (Float32Array | undefined)[]): Matrix | undefined {
  const length = vectors.find((vector) => vector !== undefined)?.length;
  if (length === undefined || length === 0) return undefined;
  const known = new Uint8Array(vectors.length);
  const stride = strideOf(length);
  const bytes = (vectors.length + MAX_WIDTH) * stride * Int16Array.BYTES_PER_ELEMENT;
  const sums = vectors.length * MAX_WIDTH * Int32Array.BYTES_PER_ELEMENT;
  const pages = Math.ceil((bytes + sums) / PAGE_BYTES);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  const rows = new Int16Array(memory.buffer, 0, vectors.length * stride);
  vectors.forEach((vector, tool) => {
    if (vector === undefined) return;
    if (vector.length !== length) throw new RangeError(`vector ${tool} has ${vector.length} numbers, others ${length}`);
    for (let at = 0; at < length; at += 1) rows[tool * stride + at] = fixed(vector[at] as number);
    known[tool] = 1;
  });
  return { length, known, memory, dots: new Map() };
}

/**
 * The similarity of every tool to each unit vector: 2 equal, 1 unrelated; 0 above the distance or without a vector.
 * @param take returns a buffer of zeros, one per tool
 * @throws RangeError for a vector of another length
 */
export function semanticScores(
  matrix: Matrix,
  vectors: readonly Float32Array[],
  maxDistance: number,
  allowed?: Uint8Array,
  take: () => Float32Array = () => new Float32Array(matrix.known.length),
): readonly Float32Array[] {
  const found: Float32Array[] = [];
  // compares a query and its parts in one pass
  for (let from = 0; from < vectors.length; from += MAX_WIDTH) {
    const group = vectors.slice(from, from + MAX_WIDTH);
    const sums = products(matrix, group);
    group.forEach((_, at) => {
      found.push(scoresFrom({ sums, at, width: group.length, known: matrix.known, maxDistance, allowed }, take()));
    });
  }
  return found;
}

/** Minimum score: an opposite tool within the distance is still found, as the last. */
const LEAST = 1e-6;

interface Compared {
  readonly sums: Int32Array;
  readonly at: number;
  readonly width: number;
  readonly known: Uint8Array;
  readonly maxDistance: number;
  readonly allowed: Uint8Array | undefined;
}

function scoresFrom({ sums, at, width, known, maxDistance, allowed }: Compared, scores: Float32Array): Float32Array {
  for (let tool = 0; tool < known.length; tool += 1) {
    if (known[tool] === 0 || allowed?.[tool] === 0) continue;
    const distance = 1 - (sums[tool * width + at] as number) / (ONE * ONE);
    if (distance <= maxDistance + ROUNDING) scores[tool] = Math.max(2 - distance, LEAST);
  }
  return scores;
}

/** Scalar products by tool, then by vector. The next call overwrites them. */
function products({ length, known, memory, dots }: Matrix, vectors: readonly Float32Array[]): Int32Array {
  const [width, stride] = [vectors.length, strideOf(length)];
  const rowsEnd = known.length * stride * Int16Array.BYTES_PER_ELEMENT;
  const vectorsEnd = rowsEnd + width * stride * Int16Array.BYTES_PER_ELEMENT;
  const block = new Int16Array(memory.buffer, rowsEnd, width * stride);
  vectors.forEach((vector, each) => {
    if (vector.length !== length) throw new RangeError(`the query has ${vector.length} numbers, the tools ${length}`);
    for (let at = 0; at < length; at += 1) block[placeOf(at, each, width)] = fixed(vector[at] as number);
    for (let at = length; at < stride; at += 1) block[placeOf(at, each, width)] = 0;
  });
  const run = dots.get(width) ?? dotsOver(memory, width);
  dots.set(width, run);
  run(0, rowsEnd, rowsEnd, vectorsEnd, vectorsEnd);
  return new Int32Array(memory.buffer, vectorsEnd, known.length * width);
}

/** The position of a number: vectors are interleaved in blocks of eight numbers. */
function placeOf(at: number, each: number, width: number): number {
  return (at - (at % LANES)) * width + each * LANES + (at % LANES);
}

function dotsOver(memory: WebAssembly.Memory, width: number): Dots {
  const module = modules.get(width) ?? dotsModule(width);
  modules.set(width, module);
  return new WebAssembly.Instance(module, { host: { memory } }).exports.dots as Dots;
}

function strideOf(length: number): number {
  return Math.ceil(length / LANES) * LANES;
}

function fixed(value: number): number {
  return Math.round(Math.max(-1, Math.min(1, value)) * ONE);
}
