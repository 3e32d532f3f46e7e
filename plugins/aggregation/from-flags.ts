import { present } from '@toolmgr/core';
import type { FromFlags } from '@toolmgr/plugins/kit/workloads';

/** Names of tools. Those of one backend never collide, so `priority` leaves them without a prefix. */
export const fromFlags: FromFlags = {
  where: '--tools, --tools-override',
  plan({ name, tools_filter: filter, tools_override: overrides }, _start, use) {
    const settings = {
      conflictResolution: 'priority',
      conflictResolutionConfig: { priorityOrder: [name] },
      tools: [{ workload: name, ...present({ filter, overrides }) }],
    };
    return { plugins: [{ use, with: settings }] };
  },
};
