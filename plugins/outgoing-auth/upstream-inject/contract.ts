import type { ClusterStrategyReader } from '@toolmgr/plugins/kit/kubernetes';
import { upstreamNameProblems } from '@toolmgr/plugins/kit/oauth/settings';

/** Strategy `upstream_inject` of `outgoingAuth` with its options. */
export const contract: ClusterStrategyReader = {
  problems: ({ providerName }: { readonly providerName: string }, facts) =>
    upstreamNameProblems(providerName, ['providerName'], facts),
  fromCluster: { upstreamInject: {} },
};
