import { type FromCluster, requires } from '@toolmgr/plugins/kit/kubernetes';

const OVERRIDES = 'tools.[].overrides.*';

/** Source: vmcp spec §2 aggregation. */
export const rules: FromCluster['rules'] = {
  within: {
    '': {
      rules: [
        {
          rule: "(self.conflictResolution == 'priority') == (has(self.conflictResolutionConfig) && has(self.conflictResolutionConfig.priorityOrder) && size(self.conflictResolutionConfig.priorityOrder) > 0)",
          message: 'priorityOrder must be set when conflictResolution is priority, and only then',
          fieldPath: '.conflictResolutionConfig',
        },
        requires(
          'tools',
          "self.conflictResolution == 'manual'",
          'tools are required when conflictResolution is manual',
        ),
      ],
    },
    'conflictResolutionConfig.prefixFormat': { pattern: '^([^{}]|[{]workload[}])*$' },
    tools: { listMapKeys: ['workload'] },
    [OVERRIDES]: { minProperties: 1 },
    [`${OVERRIDES}.annotations`]: { minProperties: 1 },
  },
};
