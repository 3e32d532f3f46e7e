import { isObject } from '@toolmgr/core';
import type { ClusterStrategyReader } from '@toolmgr/plugins/kit/kubernetes';
import { upstreamNameProblems } from '@toolmgr/plugins/kit/oauth/settings';
import { durationMs } from '@toolmgr/plugins/kit/settings';

interface Obo {
  readonly clientSecret?: string;
  readonly subjectTokenProviderName?: string;
}

interface OboInCluster {
  readonly tenantId?: string;
  readonly authority?: string;
  readonly cacheSkew?: string;
}

const DEFAULT_AUTHORITY = 'https://login.microsoftonline.com';

/** Strategy `obo` of `outgoingAuth` with its options. Source: vmcp spec §7 (the default build refuses it). */
export const contract: ClusterStrategyReader = {
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
  fromCluster: {
    obo: {
      secrets: { clientSecretRef: 'TOOLMGR_OBO_CLIENT_SECRET' },
      refuse({ tenantId }: OboInCluster, { isAllowed }) {
        if (!isAllowed) {
          const message = ENTERPRISE_REQUIRED.replace(/plugins$/, 'spec.config.plugins');
          return { reason: 'EnterpriseRequired', message };
        }
        if (tenantId !== undefined) return undefined;
        return { reason: 'ConversionFailed', message: 'obo.tenantId: missing, expected a tenant' };
      },
      options({ tenantId, authority = DEFAULT_AUTHORITY, cacheSkew, ...rest }: OboInCluster, { clientSecretRef }) {
        const skewMs = cacheSkew === undefined ? undefined : durationMs(cacheSkew);
        const tokenUrl = `${authority.replace(/\/+$/, '')}/${tenantId}/oauth2/v2.0/token`;
        const cacheSkewSeconds = skewMs === undefined ? undefined : Math.ceil(skewMs / 1000);
        return { ...rest, tokenUrl, clientSecretEnv: clientSecretRef, cacheSkewSeconds };
      },
    },
  },
};

const ENTERPRISE_REQUIRED =
  'obo is refused as enterprise-required; to use it, add {use: outgoing-auth/obo, with: {allow: true}} to plugins';
