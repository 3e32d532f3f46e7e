// The part of the platform's WebAssembly that plugins use; Node's own types leave it out.

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
    /** A program with its memory. @throws LinkError when what it imports is not given */
    class Instance {
      constructor(module: Module, imports: { readonly [module: string]: { readonly [name: string]: Memory } });
      readonly exports: { readonly [name: string]: unknown };
    }
    /** Compiles at once: for small programs. @throws CompileError */
    const Module: new (bytes: Uint8Array) => Module;
    /** Compiles off the thread. */
    function compile(bytes: Uint8Array): Promise<Module>;
  }
}

export {};
