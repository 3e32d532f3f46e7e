import { definePlugin } from '@toolmgr/core';
import { operationHomes, operations } from '@toolmgr/plugins/kit/operations';
import { z } from 'zod';
import { upgradeOperations } from './operations.ts';
import { upgradeDeps } from './upgrade-deps.ts';

const ADDRESS = 'upgrades';

export const upgradesPlugin = definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  summary: 'compares workloads with their registry entries, and upgrades them',
  config: z.strictObject({}),
  apply(core) {
    const { state } = core.slot(operationHomes).get('user');
    core.slot(operations).register(ADDRESS, upgradeOperations(upgradeDeps(state)));
  },
});
