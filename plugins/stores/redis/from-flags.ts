import { present } from '@toolmgr/core';
import type { FromFlags } from '@toolmgr/plugins/kit/workloads';

/** The store of sessions of clients and of counts of calls. A namespace is part of the prefix of its keys. */
export const fromFlags: FromFlags = {
  where: 'scaling_config.session_redis',
  plan({ scaling_config: scaling, rate_limit_namespace: namespace }, _start, use) {
    if (scaling?.session_redis === undefined) return {};
    const { address, db, key_prefix: prefix } = scaling.session_redis;
    const keyPrefix = namespace === undefined ? prefix : `${(prefix ?? 'toolmgr').replace(/:$/, '')}:${namespace}:`;
    return {
      plugins: [{ use, with: present({ address, db, keyPrefix }) }],
      sessionStorage: { store: 'redis' },
    };
  },
};
