import { isObject } from '@toolmgr/core';
import type { ClusterReader } from '@toolmgr/plugins/kit/kubernetes';
import { upstreamNameProblems } from '@toolmgr/plugins/kit/oauth/settings';

interface Obo {
  readonly clientSecret?: string;
  readonly subjectTokenProviderName?: string;
}

/** Strategy `obo` of `outgoingAuth` with its options. Source: vmcp spec §7 (the default build refuses it). */
export const contract: ClusterReader = {
  problems({ subjectTokenProviderName }: Obo, facts) {
    const own = facts.plugins.find(({ use }) => use === 'outgoing-auth/obo')?.with;
    const refused = isObject(own) && own.allow === true ? [] : [{ path: [], message: ENTERPRISE_REQUIRED }];
    return [...refused, ...upstreamNameProblems(subjectTokenProviderName, ['subjectTokenProviderName'], facts)];
  },
  warnings({ clientSecret }: Obo) {
    if (clientSecret === undefined) return [];
    const message = 'a credential is in the file; put it into a variable and name it in clientSecretEnv';
    return [{ path: ['clientSecret'], message }];
  },
  fromCluster: () => import('./from-cluster.ts'),
};

const ENTERPRISE_REQUIRED =
  'obo is refused as enterprise-required; to use it, add {use: outgoing-auth/obo, with: {allow: true}} to plugins';
