import type { ClusterReader } from '@toolmgr/plugins/kit/kubernetes';
import { ambiguousProvider, upstreamNameProblems } from '@toolmgr/plugins/kit/oauth/settings';

interface Xaa {
  readonly idpClientSecret?: string;
  readonly targetClientSecret?: string;
  readonly subjectProviderName?: string;
}

/** Strategy `xaa` of `outgoingAuth` with its options. */
export const contract: ClusterReader = {
  problems({ subjectProviderName: name }: Xaa, facts) {
    if (name !== undefined) return upstreamNameProblems(name, ['subjectProviderName'], facts);
    const { upstreams, hasOwnPlugins } = facts;
    if (upstreams !== undefined && upstreams.length > 1) return [{ path: [], message: ambiguousProvider(upstreams) }];
    if (upstreams !== undefined || hasOwnPlugins) return [];
    return [{ path: [], message: 'needs the ID token of an upstream provider; add authServerConfig' }];
  },
  warnings(options: Xaa) {
    return (['idpClientSecret', 'targetClientSecret'] as const)
      .filter((key) => options[key] !== undefined)
      .map((key) => ({
        path: [key],
        message: `a credential is in the file; put it into a variable and name it in ${key}Env`,
      }));
  },
  fromCluster: () => import('./from-cluster.ts'),
};
