import type { SectionReader } from '@toolmgr/core';

/** The members of the section that are read here, as they are written. */
interface Oidc {
  readonly issuer: string;
  readonly audience: string;
  readonly resource?: string;
  readonly scopes?: readonly string[];
}

/** `incomingAuth.oidc`. */
export const contract: SectionReader = {
  facts: ({ issuer, audience, resource, scopes = ['openid'] }: Oidc) => ({
    tokens: { issuer, audience, scopes, ...(resource === undefined ? {} : { resource }) },
  }),
};
