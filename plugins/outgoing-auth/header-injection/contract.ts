import type { ClusterReader } from '@toolmgr/plugins/kit/kubernetes';

/** Strategy `header_injection` of `outgoingAuth` with its options. */
export const contract: ClusterReader = {
  warnings(options: { readonly headerName: string; readonly headerValue?: string }) {
    if (options.headerValue === undefined || !CREDENTIAL.test(options.headerName)) return [];
    const message = 'a credential is in the file; put it into a variable and name it in headerValueEnv';
    return [{ path: ['headerValue'], message }];
  },
  fromCluster: () => import('./from-cluster.ts'),
};

/** Names of headers that usually contain a secret. */
const CREDENTIAL = /authorization|cookie|key|token|secret|password/i;
