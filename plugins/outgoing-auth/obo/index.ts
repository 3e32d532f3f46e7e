import { definePlugin } from '@toolmgr/core';
import { oboConfig, oboOptions } from './config.ts';
import { createObo } from './strategy.ts';

const ADDRESS = 'outgoing-auth/obo';

/** Strategy `obo`: the on-behalf-of flow of Microsoft Entra. */
export default definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  summary: 'exchanges the token of the caller by the on-behalf-of flow of Microsoft Entra',
  contractKey: 'outgoingAuth.*.obo',
  config: oboConfig,
  slotOptions: { obo: oboOptions },
  apply(core, { allow }) {
    const strategy = createObo(core, allow);
    core.slots.authStrategies.register('obo', strategy);
    core.hooks.stopping.tapPromise(ADDRESS, () => strategy.close());
  },
});
