import type { ClusterReader } from '@toolmgr/plugins/kit/kubernetes';
import { upstreamNameProblems } from '@toolmgr/plugins/kit/oauth/settings';

/** Strategy `aws_sts` of `outgoingAuth` with its options. */
export const contract: ClusterReader = {
  problems: ({ subjectProviderName }: { readonly subjectProviderName?: string }, facts) =>
    upstreamNameProblems(subjectProviderName, ['subjectProviderName'], facts),
  fromCluster: () => import('./from-cluster.ts'),
};
