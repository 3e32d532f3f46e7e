import { definePlugin } from '@toolmgr/core';
import { quickjsConfig } from './config.ts';
import { createPool } from './thread-pool.ts';

const ADDRESS = 'code-mode/quickjs';

/** Runs scripts of code mode in QuickJS, each in its own engine, memory and thread. */
export default definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  summary: 'runs scripts in QuickJS, each in its own engine and memory, on worker threads',
  config: quickjsConfig,
  apply(core, config) {
    const pool = createPool(config, core.log);
    core.slots.sandboxes.register('quickjs', pool);
    core.hooks.starting.tapPromise(ADDRESS, async () => pool.start());
    core.hooks.stopping.tapPromise(ADDRESS, async () => pool.stop());
  },
});
