import '../../shared/web-assembly.ts';

/**
 * The scalar products of rows with some vectors, as a WebAssembly function over eight numbers at once.
 *
 * JavaScript has no vector instructions: 10,000 tools against nine texts took it tens of milliseconds, in which nobody
 * else was answered. The module is written down by its instructions, since nothing in it would be worth a compiler; for
 * `width` vectors it says
 *
 *     do { sums = 0
 *          do { row8 = load(row); sums[each] += row8 * load(vector + 16 * each) } while (vector < vectorsEnd)
 *          store(out + 4 * each, the four lanes of sums[each] added up) } while (row < rowsEnd)
 *
 * Each row is read once for all vectors, since memory is slower than sums. Numbers are 16 bits, sums 32.
 */
export type Dots = (rows: number, rowsEnd: number, vectors: number, vectorsEnd: number, out: number) => void;

/** Numbers in one step; rows and vectors are padded to a multiple of it. */
export const LANES = 8;
const STEP_BYTES = LANES * Int16Array.BYTES_PER_ELEMENT;
const SUM_BYTES = Int32Array.BYTES_PER_ELEMENT;

/** Instructions by the names of the WebAssembly specification. */
const OP = {
  loop: [0x03, 0x40],
  end: [0x0b],
  branchIf: [0x0d],
  get: [0x20],
  set: [0x21],
  constant: [0x41],
  lessThan: [0x49],
  add: [0x6a],
  store: [0x36, 0x02],
  load128: [0xfd, 0x00, 0x04],
  zeros: [0xfd, 0x0c, ...new Array<number>(16).fill(0)],
  lane: [0xfd, 0x1b],
  /** Products of eight numbers, added in pairs to four sums. */
  dot8: [0xfd, 0xba, 0x01],
  add4: [0xfd, 0xae, 0x01],
} as const;
const [I32, V128] = [0x7f, 0x7b];
const PARAMETERS = { row: 0, rowsEnd: 1, vectors: 2, vectorsEnd: 3, out: 4 } as const;
const LOCALS = { vector: 5, row8: 6, firstSum: 7 } as const;

/** A module with the memory `host.memory` and the function `dots` for `width` vectors. @throws CompileError without SIMD */
export function dotsModule(width: number): WebAssembly.Module {
  const sections: readonly (readonly number[])[] = [
    section(1, [1, 0x60, 5, I32, I32, I32, I32, I32, 0]), // one type: five numbers, no result
    section(2, [1, ...named('host'), ...named('memory'), 0x02, 0x00, 1]),
    section(3, [1, 0]),
    section(7, [1, ...named('dots'), 0x00, 0]),
    section(10, [1, ...sized([2, 1, I32, ...unsigned(width + 1), V128, ...body(width), ...OP.end])]),
  ];
  return new WebAssembly.Module(Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, ...sections.flat()]));
}

function body(width: number): readonly number[] {
  const { row, rowsEnd, vectors, vectorsEnd, out } = PARAMETERS;
  const { vector, row8 } = LOCALS;
  const sums = Array.from({ length: width }, (_, at) => LOCALS.firstSum + at);
  return [
    ...OP.loop,
    ...sums.flatMap((sum) => [...OP.zeros, ...OP.set, sum]),
    ...[...OP.get, vectors, ...OP.set, vector],
    ...OP.loop,
    ...[...OP.get, row, ...OP.load128, 0, ...OP.set, row8],
    ...sums.flatMap((sum, at) => [
      ...[...OP.get, sum, ...OP.get, row8],
      ...[...OP.get, vector, ...OP.load128, ...unsigned(at * STEP_BYTES)],
      ...[...OP.dot8, ...OP.add4, ...OP.set, sum],
    ]),
    ...advanced(row, STEP_BYTES),
    ...advanced(vector, STEP_BYTES * width),
    ...[...OP.get, vector, ...OP.get, vectorsEnd, ...OP.lessThan, ...OP.branchIf, 0, ...OP.end],
    ...sums.flatMap((sum, at) => [...OP.get, out, ...laneSum(sum), ...OP.store, ...unsigned(at * SUM_BYTES)]),
    ...advanced(out, SUM_BYTES * width),
    ...[...OP.get, row, ...OP.get, rowsEnd, ...OP.lessThan, ...OP.branchIf, 0, ...OP.end],
  ];
}

function laneSum(local: number): readonly number[] {
  const lane = (at: number) => [...OP.get, local, ...OP.lane, at];
  return [...lane(0), ...lane(1), ...OP.add, ...lane(2), ...OP.add, ...lane(3), ...OP.add];
}

function advanced(local: number, bytes: number): readonly number[] {
  return [...OP.get, local, ...OP.constant, ...signed(bytes), ...OP.add, ...OP.set, local];
}

function section(id: number, content: readonly number[]): readonly number[] {
  return [id, ...sized(content)];
}

function sized(content: readonly number[]): readonly number[] {
  return [...unsigned(content.length), ...content];
}

function named(name: string): readonly number[] {
  return sized([...Buffer.from(name)]);
}

/** LEB128: seven bits in a byte, the highest bit says that more follow. */
function unsigned(value: number): readonly number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}

/** As `unsigned`, for a number that is not negative where one may be: the last byte has its sign at 0x40. */
function signed(value: number): readonly number[] {
  return value < 0x40 ? [value] : [(value & 0x7f) | 0x80, ...signed(value >>> 7)];
}
