// The login of a workload at its remote server, for hosts.

export { oauthOptionsOf } from '../from-flags.ts';
export { scopesLackedIn } from '../lacking-scopes.ts';
export { createOauthHttp } from '../oauth-http.ts';
export { tokenEndpointOf } from '../token-endpoint.ts';
export { isFailure, requestTokens } from '../token-request.ts';
export { LOGIN_SECRETS, workloadTokenStore } from '../token-store.ts';
export { type Login, type LoginOutcome, logIn } from './log-in.ts';
export { type LoginAtProvider, logInAt, type ProviderClient, refreshAt } from './log-in-at.ts';
export type { CachedClient, LoginSettings } from './login-settings.ts';
export { probeRemote, type Remote } from './probe-remote.ts';
