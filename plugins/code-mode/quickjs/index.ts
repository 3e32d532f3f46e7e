import { definePlugin } from '@toolmgr/core';
import { quickjsConfig } from './config.ts';
import { createPool } from './pool.ts';

const ADDRESS = 'code-mode/quickjs';

/** Runs scripts of code mode in QuickJS: each in an engine, a memory and a thread of its own. */
export default definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  summary: 'runs scripts in QuickJS, each in an engine and a memory of its own, off the main thread',
  config: quickjsConfig,
  apply(core, config) {
    const pool = createPool(config, core.log);
    core.slots.sandboxes.register('quickjs', pool);
    core.hooks.starting.tapPromise(ADDRESS, async () => pool.start());
    core.hooks.stopping.tapPromise(ADDRESS, async () => pool.stop());
  },
});
