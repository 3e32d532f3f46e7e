import type { ClusterReader } from '@toolmgr/plugins/kit/kubernetes';
import { type IssuerAddress, issuerAddressProblem } from '@toolmgr/plugins/kit/safe-http/addresses';

/** The scopes of a configuration. */
export interface Scopes {
  /** Those that clients are told to request at a sign-in. */
  readonly scopes: readonly string[];
  /** Those that calls need, by name or pattern of the tool. */
  readonly toolScopes?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** The members of the section that are read here, as they are written. */
interface Oidc extends IssuerAddress {
  readonly audience: string;
  readonly resource?: string;
  readonly scopes?: readonly string[];
  readonly toolScopes?: Readonly<Record<string, readonly string[]>>;
}

/** `incomingAuth.oidc`. */
export const contract: ClusterReader = {
  facts: ({ issuer, audience, resource, scopes = ['openid'], toolScopes = {} }: Oidc) => ({
    tokens: {
      issuer,
      audience,
      scopes: allScopes({ scopes, toolScopes }),
      ...(resource === undefined ? {} : { resource }),
    },
  }),
  /** The keys of an issuer that is not the authorization server of this file are fetched. */
  problems(section: Oidc, { upstreams, unsound, hasOwnPlugins }) {
    if (upstreams !== undefined || hasOwnPlugins || unsound.includes('authServerConfig')) return [];
    const message = issuerAddressProblem(section);
    return message === undefined ? [] : [{ path: ['issuer'], message }];
  },
  fromCluster: () => import('./from-cluster.ts'),
};

/** The scopes that clients may have to request, without repetition. */
export function allScopes({ scopes, toolScopes = {} }: Scopes): readonly string[] {
  return [...new Set([...scopes, ...Object.values(toolScopes).flat()])];
}
