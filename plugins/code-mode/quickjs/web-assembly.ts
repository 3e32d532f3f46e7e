// The part of the platform's WebAssembly that is used here; Node's own types leave it out.

declare global {
  namespace WebAssembly {
    /** A compiled program; threads may share it. */
    interface Module {
      readonly [Symbol.toStringTag]: 'WebAssembly.Module';
    }
    /** A linear memory, in pages of 64 KiB. */
    class Memory {
      constructor(descriptor: { readonly initial: number; readonly maximum: number });
      readonly buffer: ArrayBuffer;
    }
    /** Compiles off the thread. */
    function compile(bytes: Uint8Array): Promise<Module>;
  }
}

/** The compiled engine. */
export type EngineModule = WebAssembly.Module;
