import type { ClusterReader } from '@toolmgr/plugins/kit/kubernetes';

/** Strategy `unauthenticated` of `outgoingAuth`, which has no options. */
export const contract: ClusterReader = {
  fromCluster: async () => ({ externalAuth: { unauthenticated: { order: 4 } } }),
};
