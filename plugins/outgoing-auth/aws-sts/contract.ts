import type { SectionReader } from '@toolmgr/core';
import { upstreamNameProblems } from '@toolmgr/plugins/kit/oauth/settings';

/** Strategy `aws_sts` of `outgoingAuth` with its options. */
export const contract: SectionReader = {
  problems: ({ subjectProviderName }: { readonly subjectProviderName?: string }, facts) =>
    upstreamNameProblems(subjectProviderName, ['subjectProviderName'], facts),
};
