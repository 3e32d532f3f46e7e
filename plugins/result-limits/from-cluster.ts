import type { FromCluster } from '@toolmgr/plugins/kit/kubernetes';

/** What the schema of the kind says beside the types. */
export const rules: FromCluster['rules'] = {
  within: {
    default: {
      rules: [
        { rule: 'has(self.bytes) || has(self.estimatedTokens)', message: 'bytes or estimatedTokens must be set' },
      ],
    },
    tools: { maxItems: 500, listMapKeys: ['name'] },
  },
};
