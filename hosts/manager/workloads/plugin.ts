import { definePlugin } from '@toolmgr/core';
import { backgroundWork, operationHomes, operations, pageViews } from '@toolmgr/plugins/kit/operations';
import { z } from 'zod';
import { workloadOperations } from './operations.ts';

const ADDRESS = 'workloads';

export const workloadsPlugin = definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  summary: 'starts, changes and stops workloads',
  config: z.strictObject({
    supervise: z.boolean().default(true).describe('starts a workload again that ended by itself'),
  }),
  apply(core, { supervise }) {
    const home = core.slot(operationHomes).get('user');
    core.slot(operations).register(ADDRESS, workloadOperations({ state: home.state, records: home.workloads }));
    core.slot(pageViews).register(ADDRESS, [{ name: 'workloads', title: 'Workloads', order: 10 }]);
    if (!supervise) return;
    core.slot(backgroundWork).register(ADDRESS, async (context) => {
      const { startSupervisor } = await import('../supervisor/start-supervisor.ts');
      startSupervisor({ ...home, ...context, log: core.log }); // a stop does not wait for an engine that is silent
    });
  },
});
