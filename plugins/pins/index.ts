import { definePlugin } from '@toolmgr/core';
import { operationHomes, operations, pageViews } from '@toolmgr/plugins/kit/operations';
import { z } from 'zod';
import { pinOperations } from './operations.ts';

const ADDRESS = 'pins';

/** Shows what gateways of the state folder hold, and takes decisions about it. */
export default definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  summary: 'shows definitions that gateways hold, and takes decisions about them',
  config: z.strictObject({}),
  apply(core) {
    const { state } = core.slot(operationHomes).get('user');
    core.slot(operations).register(ADDRESS, pinOperations(state));
    core.slot(pageViews).register(ADDRESS, [{ name: 'pins', title: 'Pins', order: 90 }]);
  },
});
