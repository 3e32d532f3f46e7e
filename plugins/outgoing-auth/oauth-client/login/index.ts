// The login of a workload at its remote server, for hosts.

export { scopesLackedIn } from '../lacking-scopes.ts';
export { createOauthHttp } from '../oauth-http.ts';
export { isFailure } from '../token-request.ts';
export { type Login, type LoginOutcome, logIn } from './log-in.ts';
export { type LoginAtProvider, logInAt, type ProviderClient, refreshAt } from './log-in-at.ts';
export type { CachedClient, LoginSettings } from './login-settings.ts';
export type { Remote } from './probe-remote.ts';
export {
  cachedClientOf,
  forgetLackingScopes,
  forgetLogin,
  furtherScopesOf,
  isLoggedIn,
  settingsOf,
  storeLogin,
} from './stored-login.ts';
