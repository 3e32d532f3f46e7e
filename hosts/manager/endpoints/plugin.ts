import { definePlugin, defineSlot } from '@toolmgr/core';
import { operations, pageViews } from '@toolmgr/plugins/kit/operations';
import { z } from 'zod';
import type { OpenEndpoints } from './open-endpoints.ts';
import { endpointOperations } from './operations.ts';

/** The MCP endpoints of the manager; the host fills it with the name `manager`. */
export const endpointHomes = defineSlot<Pick<OpenEndpoints, 'endpoints' | 'calls'>>('endpointHomes');

const ADDRESS = 'endpoints';

export const endpointsPlugin = definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  summary: 'shows what clients of an endpoint see, and the calls',
  config: z.strictObject({}),
  apply(core) {
    const { endpoints, calls } = core.slot(endpointHomes).get('manager');
    core.slot(operations).register(ADDRESS, endpointOperations(endpoints, calls));
    core.slot(pageViews).register(ADDRESS, [
      { name: 'playground', title: 'Playground', order: 30 },
      { name: 'calls', title: 'Calls', order: 40 },
      { name: 'endpoint', title: 'Endpoint', order: 50 },
    ]);
  },
});
