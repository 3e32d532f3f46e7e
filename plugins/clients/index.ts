import { definePlugin } from '@toolmgr/core';
import { backgroundWork, clientPlaces, operations, pageViews } from '@toolmgr/plugins/kit/operations';
import { z } from 'zod';

import { clientHomes } from './client-homes.ts';
import { followWorkloads } from './follow-workloads.ts';
import { clientOperations } from './operations.ts';
import { skillPlaces } from './skill-places.ts';

const ADDRESS = 'clients';

export default definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  summary: 'registers applications that are MCP clients, and keeps the entries in their files right',
  config: z.strictObject({
    follow: z
      .boolean()
      .default(true)
      .describe('writes the entries of workloads that start and stop while the manager runs'),
  }),
  apply(core, { follow }) {
    const home = core.slot(clientHomes).get('user');
    core.slot(operations).register(ADDRESS, clientOperations(home));
    core.slot(pageViews).register(ADDRESS, [{ name: 'clients', title: 'Clients', order: 60 }]);
    core.slot(clientPlaces).register(ADDRESS, () => skillPlaces(home.user));
    if (!follow) return;
    const { log } = core;
    core.slot(backgroundWork).register(ADDRESS, (context) => followWorkloads({ ...home, ...context, log }));
  },
});
