import type { ClusterStrategyReader } from '@toolmgr/plugins/kit/kubernetes';
import { ambiguousProvider, upstreamNameProblems } from '@toolmgr/plugins/kit/oauth/settings';

interface Xaa {
  readonly idpClientSecret?: string;
  readonly targetClientSecret?: string;
  readonly subjectProviderName?: string;
}

/** Strategy `xaa` of `outgoingAuth` with its options. */
export const contract: ClusterStrategyReader = {
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
  fromCluster: {
    xaa: {
      secrets: {
        idpClientSecretRef: 'TOOLMGR_XAA_IDP_CLIENT_SECRET',
        targetClientSecretRef: 'TOOLMGR_XAA_TARGET_CLIENT_SECRET',
      },
      refuse({ subjectProviderName }: Xaa, { upstreams }) {
        if (subjectProviderName !== undefined || upstreams.length <= 1) return undefined;
        const message = `xaa.subjectProviderName: missing, the authorization server has several providers: ${upstreams.join(', ')}`;
        return { reason: 'AmbiguousSubjectProvider', message };
      },
      options: (given: object, names) => ({
        ...given,
        idpClientSecretEnv: names.idpClientSecretRef,
        targetClientSecretEnv: names.targetClientSecretRef,
      }),
    },
  },
};
