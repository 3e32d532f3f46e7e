import { definePlugin } from '@toolmgr/core';
import { operations, pageViews, skillLookups } from '@toolmgr/plugins/kit/operations';
import { z } from 'zod';

import { registryOperations } from './operations.ts';
import { registryHomes } from './registry-homes.ts';
import { skillLookup } from './skill-lookup.ts';

const ADDRESS = 'registry';

export default definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  summary: 'finds servers and skills in registries',
  config: z.strictObject({}),
  apply(core) {
    const home = core.slot(registryHomes).get('user');
    core.slot(operations).register(ADDRESS, registryOperations(home));
    core.slot(pageViews).register(ADDRESS, [{ name: 'browse', title: 'Browse', order: 20 }]);
    core.slot(skillLookups).register(ADDRESS, skillLookup(home.registries));
  },
});
