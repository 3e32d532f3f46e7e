import variant from '@jitl/quickjs-wasmfile-release-sync';
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSSyncVariant,
  type QuickJSWASMModule,
} from 'quickjs-emscripten-core';
import './web-assembly.ts';

// the package types its ES module as if it were CommonJS
const stock = variant as unknown as QuickJSSyncVariant;

/** An engine that has seen no script yet, in a memory of its own. */
export interface Instance {
  readonly module: QuickJSWASMModule;
  readonly memory: WebAssembly.Memory;
  readonly memoryBytes: number;
}

const PAGE_BYTES = 65_536;
const INITIAL_PAGES = 256; // what the engine is built with; it does not start with less

/** The least memory that an instance starts with. */
export const MIN_MEMORY_BYTES = INITIAL_PAGES * PAGE_BYTES;

/**
 * Makes an instance for one script. It is never disposed of but dropped as a whole: one handle that leaked would make
 * disposing abort, and after a full memory nothing inside can be trusted.
 *
 * The memory's own maximum is the limit. The engine's `setMemoryLimit` only refuses single allocations above it, so that many small
 * ones grow to 2 GB.
 */
export async function createInstance(engine: WebAssembly.Module, memoryBytes: number): Promise<Instance> {
  const pages = Math.max(INITIAL_PAGES, Math.floor(memoryBytes / PAGE_BYTES));
  const memory = new WebAssembly.Memory({ initial: INITIAL_PAGES, maximum: pages });
  const fresh = newVariant(stock, { wasmModule: engine, wasmMemory: memory });
  return { module: await newQuickJSWASMModuleFromVariant(fresh), memory, memoryBytes: pages * PAGE_BYTES };
}

/** The memory has grown to its end: whatever went wrong, that is why. */
export function isFull({ memory, memoryBytes }: Instance): boolean {
  return memory.buffer.byteLength > memoryBytes * FULL_SHARE;
}

const FULL_SHARE = 0.93; // it grows by a twentieth at least, so a last step that does not fit is not taken
