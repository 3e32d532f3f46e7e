import type { FromCluster } from '@toolmgr/plugins/kit/kubernetes';

/** Source: vmcp spec §2 rateLimiting. */
export const rules: FromCluster['rules'] = {
  within: {
    '': {
      rules: [
        {
          rule: 'has(self.shared) || has(self.perUser) || (has(self.tools) && size(self.tools) > 0)',
          message: 'at least one of shared, perUser and tools must be set',
        },
      ],
    },
    tools: { maxItems: 500, listMapKeys: ['name'] },
    'tools.[]': {
      rules: [{ rule: 'has(self.shared) || has(self.perUser)', message: 'shared or perUser must be set' }],
    },
  },
};
