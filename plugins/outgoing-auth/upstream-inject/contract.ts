import type { SectionReader } from '@toolmgr/core';
import { upstreamNameProblems } from '@toolmgr/plugins/kit/oauth/settings';

/** Strategy `upstream_inject` of `outgoingAuth` with its options. */
export const contract: SectionReader = {
  problems: ({ providerName }: { readonly providerName: string }, facts) =>
    upstreamNameProblems(providerName, ['providerName'], facts),
};
