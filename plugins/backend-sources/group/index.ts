import { definePlugin } from '@toolmgr/core';
import { stateDir } from '@toolmgr/plugins/kit/files';
import { groupName, workloadName } from '@toolmgr/plugins/kit/workloads';
import { z } from 'zod';
import { watchGroup } from './watch-group.ts';

const ADDRESS = 'backend-sources/group';

/** The running workloads of a group. */
export default definePlugin({
  address: ADDRESS,
  stability: 'stable',
  summary: 'Serves the running workloads of a group, as `toolmgr run` records them, and follows changes.',
  contractKey: 'groupRef',
  config: z
    .strictObject({
      group: groupName.optional().describe('name of the group'),
      workload: workloadName.optional().describe('only this workload, in whatever group it is'),
      stateDir: z.string().optional().describe('folder of the workload records; default: the one of `toolmgr run`'),
    })
    .refine(({ group, workload }) => (group === undefined) !== (workload === undefined), 'expected group or workload'),
  apply(core, config) {
    const state = config.stateDir ?? stateDir(core.environment);
    core.slots.backendSources.register(ADDRESS, {
      watch: (push, signal) => watchGroup({ ...config, state, push, signal }),
    });
  },
});
