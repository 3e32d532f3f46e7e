import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { GatewayFault } from '@toolmgr/core';
import './web-assembly.ts';

const ENGINE = '@jitl/quickjs-wasmfile-release-sync/wasm';

/**
 * Compiles the engine, once for all threads and scripts.
 * @throws GatewayFault PLUGIN_FAILED when its package is not installed
 */
export async function compileEngine(): Promise<WebAssembly.Module> {
  try {
    return await WebAssembly.compile(await readFile(createRequire(import.meta.url).resolve(ENGINE)));
  } catch (cause) {
    const message = 'code-mode/quickjs cannot load its engine: install @jitl/quickjs-wasmfile-release-sync';
    throw new GatewayFault('PLUGIN_FAILED', message, { cause });
  }
}
