import { type FromCluster, secretKeyRef, text } from '@toolmgr/plugins/kit/kubernetes';
import { z } from 'zod';

const injected = z.strictObject({
  headerName: text(255)
    .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'expected a header name')
    .describe('name of the header'),
  valueSecretRef: secretKeyRef.describe('its value'),
});

const bearer = z.strictObject({ tokenSecretRef: secretKeyRef.describe('the token') });

export const externalAuth: FromCluster['externalAuth'] = {
  headerInjection: {
    order: 2,
    schema: injected.describe('sends a fixed header'),
    secrets: { valueSecretRef: 'TOOLMGR_HEADER_INJECTION_VALUE' },
    options: ({ headerName }: { readonly headerName: string }, { valueSecretRef: headerValueEnv }) => ({
      headerName,
      headerValueEnv,
    }),
  },
  bearerToken: {
    order: 3,
    schema: bearer.describe('sends a fixed bearer token'),
    secrets: { tokenSecretRef: 'TOOLMGR_BEARER_TOKEN' },
    options: (_given, { tokenSecretRef: headerValueEnv }) => ({
      headerName: 'Authorization',
      headerValueEnv,
      valuePrefix: 'Bearer ',
    }),
  },
};
