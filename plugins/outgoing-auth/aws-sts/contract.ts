import type { SectionReader } from '@toolmgr/core';
import { upstreamNameProblems } from '../../kit/oauth/upstream-names.ts';

/** Strategy `aws_sts` of `outgoingAuth` with its options. */
export const contract: SectionReader = {
  problems: ({ subjectProviderName }: { readonly subjectProviderName?: string }, facts) =>
    upstreamNameProblems(subjectProviderName, ['subjectProviderName'], facts),
};
