import type { ClusterStrategyReader } from '@toolmgr/plugins/kit/kubernetes';

/** Strategy `header_injection` of `outgoingAuth` with its options. */
export const contract: ClusterStrategyReader = {
  warnings(options: { readonly headerName: string; readonly headerValue?: string }) {
    if (options.headerValue === undefined || !CREDENTIAL.test(options.headerName)) return [];
    const message = 'a credential is in the file; put it into a variable and name it in headerValueEnv';
    return [{ path: ['headerValue'], message }];
  },
  fromCluster: {
    headerInjection: {
      secrets: { valueSecretRef: 'TOOLMGR_HEADER_INJECTION_VALUE' },
      options: ({ headerName }: { readonly headerName: string }, { valueSecretRef: headerValueEnv }) => ({
        headerName,
        headerValueEnv,
      }),
    },
    bearerToken: {
      secrets: { tokenSecretRef: 'TOOLMGR_BEARER_TOKEN' },
      options: (_given, { tokenSecretRef: headerValueEnv }) => ({
        headerName: 'Authorization',
        headerValueEnv,
        valuePrefix: 'Bearer ',
      }),
    },
  },
};

/** Names of headers that usually contain a secret. */
const CREDENTIAL = /authorization|cookie|key|token|secret|password/i;
