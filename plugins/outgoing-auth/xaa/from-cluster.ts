import { type FromCluster, httpsUrl, httpUrl, scopes, secretKeyRef, text } from '@toolmgr/plugins/kit/kubernetes';
import { z } from 'zod';

const schema = z.strictObject({
  idpTokenUrl: httpsUrl.describe('token endpoint of the identity provider'),
  idpClientId: text(2048).optional(),
  idpClientSecretRef: secretKeyRef.optional(),
  targetTokenUrl: httpUrl.describe('token endpoint of the authorization server of the target'),
  insecureTargetTokenUrl: z.boolean().default(false).describe('allow an http targetTokenUrl, for development'),
  targetClientId: text(2048).optional(),
  targetClientSecretRef: secretKeyRef.optional(),
  targetAudience: text(2048).describe('audience of the assertion'),
  targetResource: text(2048).optional().describe('resource (RFC 8707) of the exchange'),
  scopes: scopes.optional(),
  subjectProviderName: text(63).optional().describe('upstream provider whose ID token is used'),
  subjectTokenType: z
    .enum(['urn:ietf:params:oauth:token-type:id_token'])
    .default('urn:ietf:params:oauth:token-type:id_token'),
});

export const externalAuth: FromCluster['externalAuth'] = {
  xaa: {
    order: 9,
    schema: schema.describe('cross-app access (identity assertion)'),
    secrets: {
      idpClientSecretRef: 'TOOLMGR_XAA_IDP_CLIENT_SECRET',
      targetClientSecretRef: 'TOOLMGR_XAA_TARGET_CLIENT_SECRET',
    },
    refuse({ subjectProviderName }: { readonly subjectProviderName?: string }, { upstreams }) {
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
};
