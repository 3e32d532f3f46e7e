import type {} from '@toolmgr/plugins/kit/settings';
import { DOTS_MODULES } from './dots-kernel-bytes.ts';

/**
 * A WebAssembly function for scalar products of rows with vectors, eight numbers per step. Arguments are
 * positions in bytes in the memory of the instance. Rows and vectors are 16-bit numbers, sums 32-bit numbers.
 */
export type Dots = (rows: number, rowsEnd: number, vectors: number, vectorsEnd: number, out: number) => void;

/** Numbers per step; rows and vectors are padded to a multiple. */
export const LANES = 8;

/** The most vectors of one function. */
export const MAX_WIDTH = DOTS_MODULES.length;

/** A module with the memory `host.memory` and the function `dots` for `width` vectors. @throws CompileError without SIMD */
export function dotsModule(width: number): WebAssembly.Module {
  return new WebAssembly.Module(Buffer.from(DOTS_MODULES[width - 1] ?? '', 'base64'));
}
