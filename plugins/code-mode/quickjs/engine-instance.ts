import variant from '@jitl/quickjs-wasmfile-release-sync';
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSSyncVariant,
  type QuickJSWASMModule,
} from 'quickjs-emscripten-core';
import './web-assembly.ts';

// the package's types describe its ES module as CommonJS
const stock = variant as unknown as QuickJSSyncVariant;

/** A fresh engine with its own memory. */
export interface Instance {
  readonly module: QuickJSWASMModule;
  readonly memory: WebAssembly.Memory;
  readonly memoryBytes: number;
}

const PAGE_BYTES = 65_536;
const INITIAL_PAGES = 256; // the minimum that the engine was built with

/** The minimum memory of an instance. */
export const MIN_MEMORY_BYTES = INITIAL_PAGES * PAGE_BYTES;

/**
 * Creates an instance for one script. It is dropped as a whole and never disposed: disposing aborts when a handle leaked,
 * and the engine's state is unreliable after it ran out of memory.
 *
 * The limit is the maximum of the WebAssembly memory. The engine's `setMemoryLimit` checks only single allocations, so many
 * small ones could grow to 2 GB.
 */
export async function createInstance(engine: WebAssembly.Module, memoryBytes: number): Promise<Instance> {
  const pages = Math.max(INITIAL_PAGES, Math.floor(memoryBytes / PAGE_BYTES));
  const memory = new WebAssembly.Memory({ initial: INITIAL_PAGES, maximum: pages });
  const fresh = newVariant(stock, { wasmModule: engine, wasmMemory: memory });
  return { module: await newQuickJSWASMModuleFromVariant(fresh), memory, memoryBytes: pages * PAGE_BYTES };
}

/** Whether the memory has grown to its maximum, which is then the cause of any failure. */
export function isFull({ memory, memoryBytes }: Instance): boolean {
  return memory.buffer.byteLength > memoryBytes * FULL_SHARE;
}

const FULL_SHARE = 0.93; // memory grows in steps of at least 5 %, so the last step may not fit
