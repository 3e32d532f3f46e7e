import { type FromCluster, httpsUrl, scopes, secretKeyRef, text } from '@toolmgr/plugins/kit/kubernetes';
import { durationMs } from '@toolmgr/plugins/kit/settings';
import { z } from 'zod';

const schema = z.strictObject({
  tenantId: text(253)
    .regex(/^[0-9A-Za-z.-]+$/, 'expected a GUID or a domain')
    .optional()
    .describe('tenant of the identity provider'),
  authority: httpsUrl.optional().describe('base URL of the identity provider'),
  clientId: text(2048).optional(),
  clientSecretRef: secretKeyRef.optional(),
  audience: text(2048).optional(),
  scopes: scopes.max(20).optional(),
  subjectTokenProviderName: text(63).optional(),
  cacheSkew: z
    .string()
    .max(64)
    .regex(/^(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/, 'expected a Go duration such as 30s')
    .optional(),
});

type Given = Omit<z.output<typeof schema>, 'clientSecretRef'>;

const DEFAULT_AUTHORITY = 'https://login.microsoftonline.com';

export const externalAuth: FromCluster['externalAuth'] = {
  obo: {
    order: 8,
    schema: schema.describe('on-behalf-of flow; not part of this build'),
    secrets: { clientSecretRef: 'TOOLMGR_OBO_CLIENT_SECRET' },
    refuse({ tenantId }: Given, { isAllowed }) {
      if (!isAllowed) {
        return { reason: 'EnterpriseRequired', message: ENTERPRISE_REQUIRED };
      }
      if (tenantId !== undefined) return undefined;
      return { reason: 'ConversionFailed', message: 'obo.tenantId: missing, expected a tenant' };
    },
    options({ tenantId, authority = DEFAULT_AUTHORITY, cacheSkew, ...rest }: Given, { clientSecretRef }) {
      const skewMs = cacheSkew === undefined ? undefined : durationMs(cacheSkew);
      const tokenUrl = `${authority.replace(/\/+$/, '')}/${tenantId}/oauth2/v2.0/token`;
      const cacheSkewSeconds = skewMs === undefined ? undefined : Math.ceil(skewMs / 1000);
      return { ...rest, tokenUrl, clientSecretEnv: clientSecretRef, cacheSkewSeconds };
    },
  },
};

const ENTERPRISE_REQUIRED =
  'obo is refused as enterprise-required; to use it, add {use: outgoing-auth/obo, with: {allow: true}} to spec.config.plugins';
