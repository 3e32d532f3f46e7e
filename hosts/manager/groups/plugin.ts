import { definePlugin } from '@toolmgr/core';
import { operationHomes, operations } from '@toolmgr/plugins/kit/operations';
import { z } from 'zod';
import { groupOperations } from './operations.ts';

const ADDRESS = 'groups';

export const groupsPlugin = definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  summary: 'puts workloads, clients and skills into groups',
  config: z.strictObject({}),
  apply(core) {
    const { state, workloads } = core.slot(operationHomes).get('user');
    core.slot(operations).register(ADDRESS, groupOperations({ state, records: workloads }));
  },
});
