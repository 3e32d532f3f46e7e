import { definePlugin, STAGE } from '@toolmgr/core';
import { optimizerConfig } from './config.ts';
import { createOptimizer } from './optimizer.ts';
import { hideBehindVirtualTools } from './virtual-tools.ts';

const ADDRESS = 'optimizer/tools';

/** Lists `find_tool` and `call_tool` instead of all other tools. */
export default definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  summary: 'lists `find_tool` and `call_tool` instead of all tools: a model searches for a tool, then calls it',
  contractKey: 'optimizer',
  config: optimizerConfig,
  apply(core, config) {
    const optimizer = createOptimizer(core, config);
    const shape = hideBehindVirtualTools(optimizer, config);
    core.endpoint.serveOnly('2025-11-25'); // vmcp spec §2 optimizer
    if (config.directPath !== undefined) core.endpoint.serveDirect(config.directPath);
    core.hooks.shapeCatalog.tap({ name: ADDRESS, stage: STAGE.last }, shape);
    core.hooks.catalogRebuilt.tap(ADDRESS, ({ reachable }) => optimizer.prepare(reachable));
    core.hooks.starting.tapPromise(ADDRESS, () => optimizer.start());
    core.hooks.stopping.tapPromise(ADDRESS, () => optimizer.stop());
  },
});
