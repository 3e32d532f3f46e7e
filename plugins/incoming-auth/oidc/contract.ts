import type { SectionReader } from '@toolmgr/core';
import { type IssuerAddress, issuerAddressProblem } from '../../shared/issuer-address.ts';

/** The members of the section that are read here, as they are written. */
interface Oidc extends IssuerAddress {
  readonly audience: string;
  readonly resource?: string;
  readonly scopes?: readonly string[];
}

/** `incomingAuth.oidc`. */
export const contract: SectionReader = {
  facts: ({ issuer, audience, resource, scopes = ['openid'] }: Oidc) => ({
    tokens: { issuer, audience, scopes, ...(resource === undefined ? {} : { resource }) },
  }),
  /** The keys of an issuer that is not the authorization server of this file are fetched. */
  problems(section: Oidc, { upstreams, unsound, hasOwnPlugins }) {
    if (upstreams !== undefined || hasOwnPlugins || unsound.includes('authServerConfig')) return [];
    const message = issuerAddressProblem(section);
    return message === undefined ? [] : [{ path: ['issuer'], message }];
  },
};
