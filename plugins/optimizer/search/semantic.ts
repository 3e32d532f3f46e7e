/** Unit vectors of tools in one block; a tool without one has zeros and is near to nothing. */
export interface Matrix {
  readonly length: number;
  readonly values: Float32Array;
  readonly known: Uint8Array;
}

/** Puts vectors into one block. @throws RangeError vectors of different lengths */
export function matrixOf(vectors: readonly (Float32Array | undefined)[]): Matrix | undefined {
  const length = vectors.find((vector) => vector !== undefined)?.length;
  if (length === undefined || length === 0) return undefined;
  const values = new Float32Array(length * vectors.length);
  const known = new Uint8Array(vectors.length);
  vectors.forEach((vector, at) => {
    if (vector === undefined) return;
    if (vector.length !== length) throw new RangeError(`vector ${at} has ${vector.length} numbers, others ${length}`);
    values.set(vector, at * length);
    known[at] = 1;
  });
  return { length, values, known };
}

/**
 * How near every tool is to a unit vector: 2 is the same, 1 unrelated; 0 for tools over the distance or without a vector.
 * @throws RangeError a vector of another length
 */
export function semanticScores(
  { length, values, known }: Matrix,
  vector: Float32Array,
  maxDistance: number,
  allowed?: Uint8Array,
): Float32Array {
  if (vector.length !== length) throw new RangeError(`the query has ${vector.length} numbers, the tools ${length}`);
  const scores = new Float32Array(known.length);
  for (let tool = 0; tool < known.length; tool += 1) {
    if (known[tool] === 0 || allowed?.[tool] === 0) continue;
    const distance = 1 - dot(values, tool * length, vector);
    if (distance <= maxDistance) scores[tool] = Math.max(2 - distance, LEAST);
  }
  return scores;
}

/** An opposite tool within the distance is still found, as the last. */
const LEAST = 1e-6;

/** Four sums at once: the processor need not wait for the last addition. */
function dot(values: Float32Array, from: number, vector: Float32Array): number {
  let [a, b, c, d] = [0, 0, 0, 0];
  const whole = vector.length - (vector.length % 4);
  for (let at = 0; at < whole; at += 4) {
    a += (values[from + at] as number) * (vector[at] as number);
    b += (values[from + at + 1] as number) * (vector[at + 1] as number);
    c += (values[from + at + 2] as number) * (vector[at + 2] as number);
    d += (values[from + at + 3] as number) * (vector[at + 3] as number);
  }
  for (let at = whole; at < vector.length; at += 1) a += (values[from + at] as number) * (vector[at] as number);
  return a + b + c + d;
}
