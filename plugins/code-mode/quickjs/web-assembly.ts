import '../../kit/settings/web-assembly.ts';

/** The compiled engine. */
export type EngineModule = WebAssembly.Module;
