import type { ClusterReader } from '@toolmgr/plugins/kit/kubernetes';
import { upstreamNameProblems } from '@toolmgr/plugins/kit/oauth/settings';

/** Strategy `token_exchange` of `outgoingAuth` with its options. */
export const contract: ClusterReader = {
  problems: ({ subjectProviderName }: { readonly subjectProviderName?: string }, facts) =>
    upstreamNameProblems(subjectProviderName, ['subjectProviderName'], facts),
  warnings(options: { readonly clientSecret?: string }) {
    if (options.clientSecret === undefined) return [];
    const message = 'a credential is in the file; put it into a variable and name it in clientSecretEnv';
    return [{ path: ['clientSecret'], message }];
  },
  fromCluster: () => import('./from-cluster.ts'),
};
