import { present } from '@toolmgr/core';
import type { FromFlags } from '@toolmgr/plugins/kit/workloads';

/** The caller's token of a provider of the authorization server; without a name, of the first one. */
export const fromFlags: FromFlags = {
  where: 'upstream_swap_config',
  plan({ upstream_swap_config: given, embedded_auth_server_config: server }) {
    if (given === undefined) return {};
    const options = present({
      providerName: given.provider_name ?? server?.upstreams[0]?.name,
      headerName: given.header_strategy === 'custom' ? given.custom_header_name : undefined,
    });
    return { strategy: { type: 'upstream_inject', options } };
  },
};
