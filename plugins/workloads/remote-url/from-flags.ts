import type { FromFlags } from '@toolmgr/plugins/kit/workloads';

/** A remote server. */
export const fromFlags: FromFlags = {
  plan({ remote_url: url, remote_addresses: addresses }, _start, use) {
    if (url === undefined) return {};
    return {
      plugins: [{ use, ...(addresses === undefined ? {} : { with: { addresses } }) }],
      workload: { runtime: 'remote-url', url },
    };
  },
};
