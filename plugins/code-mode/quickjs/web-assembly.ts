import type {} from '@toolmgr/plugins/kit/settings';

/** The compiled engine. */
export type EngineModule = WebAssembly.Module;
