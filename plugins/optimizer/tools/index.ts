import { definePlugin, STAGE } from '@toolmgr/core';
import { optimizerConfig } from './config.ts';
import { contract } from './contract.ts';
import { behindTwoTools } from './entries.ts';
import { createOptimizer } from './optimizer.ts';

const ADDRESS = 'optimizer/tools';

/** `find_tool` and `call_tool` in the place of all other tools. */
export default definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  summary: 'lists `find_tool` and `call_tool` instead of all tools: a model searches for what it needs, then calls it',
  ...contract,
  config: optimizerConfig,
  apply(core, config) {
    const optimizer = createOptimizer(core, config);
    const shape = behindTwoTools(optimizer);
    core.endpoint.serveOnly('2025-11-25'); // vmcp spec §2 optimizer
    if (config.directPath !== undefined) core.endpoint.serveDirect(config.directPath);
    core.hooks.shapeCatalog.tap({ name: ADDRESS, stage: STAGE.last }, shape);
    core.hooks.catalogRebuilt.tap(ADDRESS, ({ reachable }) => optimizer.prepare(reachable));
    core.hooks.starting.tapPromise(ADDRESS, () => optimizer.start());
    core.hooks.stopping.tapPromise(ADDRESS, () => optimizer.stop());
  },
});
