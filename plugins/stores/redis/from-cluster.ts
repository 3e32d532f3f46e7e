import type { FromCluster } from '@toolmgr/plugins/kit/kubernetes';

/** A store outside the process needs an address, and servers exclude each other. Source: vmcp spec §2 sessionStorage. */
export const rules: FromCluster['rules'] = {
  within: {
    '': {
      rules: [
        {
          rule: "self.provider != 'redis' || has(self.address) || has(self.sentinelConfig)",
          message: 'address is required when provider is redis',
          fieldPath: '.address',
          reason: 'FieldValueRequired',
        },
        {
          rule: '!has(self.address) || !has(self.sentinelConfig)',
          message: 'address and sentinelConfig are mutually exclusive',
          fieldPath: '.sentinelConfig',
          reason: 'FieldValueForbidden',
        },
        {
          rule: '!self.clusterMode || (has(self.address) && self.db == 0)',
          message: 'clusterMode requires address, and db 0',
          fieldPath: '.clusterMode',
        },
        {
          rule: '!has(self.sentinelTls) || has(self.sentinelConfig)',
          message: 'sentinelTls requires sentinelConfig',
          fieldPath: '.sentinelTls',
        },
      ],
    },
  },
};
