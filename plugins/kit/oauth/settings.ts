/** Parts of OAuth that settings are checked with, without HTTP. */
export { type ClientAuthMethod, type ClientCredentials, clientAuthentication } from './client-authentication.ts';
export { jwtClaims } from './jwt-claims.ts';
export { ambiguousProvider, unknownUpstream, upstreamNameProblems } from './upstream-names.ts';
export { refuseWithoutInjection, upstreamTokensFor, warnWithoutInjection } from './upstream-provider.ts';
