import type { ClusterReader } from '@toolmgr/plugins/kit/kubernetes';
import { upstreamNameProblems } from '@toolmgr/plugins/kit/oauth/settings';

/** Strategy `upstream_inject` of `outgoingAuth` with its options. */
export const contract: ClusterReader = {
  problems: ({ providerName }: { readonly providerName: string }, facts) =>
    upstreamNameProblems(providerName, ['providerName'], facts),
  fromCluster: () => import('./from-cluster.ts'),
};
