import { type Core, GatewayFault } from '@toolmgr/core';
import { type TokenIssuer, tokenIssuers } from '@toolmgr/plugins/kit/extension-points';
import { type FetchKeys, usableKeys } from '@toolmgr/plugins/kit/issuer-keys';
import { plainIssuer } from '@toolmgr/plugins/kit/oauth';
import { issuerAddressProblem } from '@toolmgr/plugins/kit/safe-http/addresses';
import type { OidcConfig } from './config.ts';

/**
 * The authorization server of this gateway that issues the accepted tokens, if the issuer is one. Without one the issuer
 * is asked over HTTP, so its URL has to be allowed.
 * @throws GatewayFault PLAN_INVALID when the server issues no tokens for the audience, or the URL is not allowed
 */
export function findOwnIssuer({ slot }: Pick<Core, 'slot'>, config: OidcConfig): TokenIssuer | undefined {
  const { issuer, audience } = config;
  const issuers = slot(tokenIssuers);
  const name = issuers.names().find((each) => plainIssuer(each) === plainIssuer(issuer));
  if (name === undefined) {
    const problem = issuerAddressProblem(config);
    if (problem === undefined) return undefined;
    throw new GatewayFault('PLAN_INVALID', `incomingAuth.oidc.issuer: ${problem}`);
  }
  const own = issuers.get(name);
  if (own.audiences.includes(audience)) return own;
  const known = own.audiences.join(', ');
  throw new GatewayFault(
    'PLAN_INVALID',
    `incomingAuth.oidc.audience: the authorization server of this gateway issues no tokens for ${audience} (its audiences: ${known})`,
  );
}

/** Reads the keys of an authorization server in this process. */
export function keysInProcess(own: TokenIssuer, issuer: string): FetchKeys {
  return async () => usableKeys({ keys: [...(await own.keys())] }, issuer);
}
