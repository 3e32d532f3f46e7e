import type { SectionReader } from '@toolmgr/core';

/** Strategy `token_exchange` of `outgoingAuth` with its options. */
export const contract: SectionReader = {
  warnings(options: { readonly clientSecret?: string }) {
    if (options.clientSecret === undefined) return [];
    const message = 'a credential stands in the file; put it into a variable and name that with clientSecretEnv';
    return [{ path: ['clientSecret'], message }];
  },
};
