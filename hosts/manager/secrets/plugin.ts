import { definePlugin } from '@toolmgr/core';
import { operationHomes, operations, pageViews } from '@toolmgr/plugins/kit/operations';
import { z } from 'zod';
import { secretOperations } from './operations.ts';

const ADDRESS = 'secrets';

export const secretsPlugin = definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  summary: 'keeps secrets in the provider that the user has chosen',
  config: z.strictObject({}),
  apply(core) {
    core.slot(operations).register(ADDRESS, secretOperations(core.slot(operationHomes).get('user').env));
    core.slot(pageViews).register(ADDRESS, [{ name: 'secrets', title: 'Secrets', order: 70 }]);
  },
});
