import { definePlugin } from '@toolmgr/core';
import { z } from 'zod';
import { stateDir, workloadName } from '../../workloads/state/workload-record.ts';
import { contract } from './contract.ts';
import { watchGroup } from './watch-group.ts';

const ADDRESS = 'backend-sources/group';

/** The running workloads of a group. */
export default definePlugin({
  address: ADDRESS,
  summary: 'Serves the running workloads of a group, as `toolmgr run` keeps them, and follows their changes.',
  ...contract,
  config: z.strictObject({
    group: workloadName.describe('the group whose workloads are served'),
    stateDir: z.string().optional().describe('where workloads are kept; default: as `toolmgr run` finds it'),
  }),
  apply(core, config) {
    const state = config.stateDir ?? stateDir();
    core.slots.backendSources.register(ADDRESS, {
      watch: (push, signal) => watchGroup({ state, group: config.group, push, signal }),
    });
  },
});
