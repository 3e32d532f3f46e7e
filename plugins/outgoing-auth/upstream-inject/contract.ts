import type { SectionReader } from '@toolmgr/core';
import { upstreamNameProblems } from '../../kit/oauth/upstream-names.ts';

/** Strategy `upstream_inject` of `outgoingAuth` with its options. */
export const contract: SectionReader = {
  problems: ({ providerName }: { readonly providerName: string }, facts) =>
    upstreamNameProblems(providerName, ['providerName'], facts),
};
