import { type FromCluster, forbidden } from '@toolmgr/plugins/kit/kubernetes';

/** Source: vmcp spec §2 backends[]; `command` is an extension. */
export const rules: FromCluster['rules'] = {
  within: {
    '': { listMapKeys: ['name'] },
    '[]': {
      rules: [
        {
          rule: "(self.transport == 'stdio') != has(self.url)",
          message: 'url must be set unless transport is stdio, which has a command',
          fieldPath: '.url',
        },
        {
          rule: "(self.transport == 'stdio') == has(self.command)",
          message: 'command must be set when transport is stdio, and only then',
          fieldPath: '.command',
        },
        forbidden(
          'caBundlePath',
          "has(self.type) && self.type == 'entry'",
          'caBundlePath applies only to backends of type entry',
        ),
      ],
    },
  },
};
