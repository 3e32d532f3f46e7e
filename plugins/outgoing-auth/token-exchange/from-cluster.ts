import { type FromCluster, httpUrl, scopes, secretKeyRef, text } from '@toolmgr/plugins/kit/kubernetes';
import { z } from 'zod';

const schema = z.strictObject({
  tokenUrl: httpUrl.describe('token endpoint'),
  clientId: text(2048).optional().describe('client id at the token endpoint'),
  clientSecretRef: secretKeyRef.optional().describe('its secret'),
  audience: text(2048).describe('audience of the requested token'),
  scopes: scopes.optional().describe('scopes of the requested token'),
  subjectTokenType: z
    .enum([
      'access_token',
      'id_token',
      'jwt',
      'urn:ietf:params:oauth:token-type:access_token',
      'urn:ietf:params:oauth:token-type:id_token',
      'urn:ietf:params:oauth:token-type:jwt',
    ])
    .default('urn:ietf:params:oauth:token-type:access_token')
    .describe('type of the token that is exchanged'),
  externalTokenHeaderName: text(255)
    .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'expected a header name')
    .optional()
    .describe('header that carries the token; default: Authorization'),
  subjectProviderName: text(63)
    .optional()
    .describe('upstream provider whose token is exchanged; default: the first one of an embedded authorization server'),
});

export const externalAuth: FromCluster['externalAuth'] = {
  tokenExchange: {
    order: 1,
    needsInjection: true,
    schema: schema.describe('exchanges the token of the caller (RFC 8693)'),
    secrets: { clientSecretRef: 'TOOLMGR_TOKEN_EXCHANGE_CLIENT_SECRET' },
    options: (
      { externalTokenHeaderName: headerName, ...rest }: { readonly externalTokenHeaderName?: string },
      { clientSecretRef: clientSecretEnv },
    ) => ({ ...rest, headerName, clientSecretEnv }),
  },
};
