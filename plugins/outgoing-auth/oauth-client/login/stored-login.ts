import { present } from '@toolmgr/core';
import {
  changeConfig,
  type RemoteAuthConfig,
  type RunConfig,
  withoutLogin,
  withoutStoredLogin,
  workloadSecretStore,
} from '@toolmgr/plugins/kit/workloads';
import { oauthOptionsOf } from '../from-flags.ts';
import { createOauthHttp } from '../oauth-http.ts';
import { tokenEndpointOf } from '../token-endpoint.ts';
import { isFailure, requestTokens } from '../token-request.ts';
import { LOGIN_SECRETS, workloadTokenStore } from '../token-store.ts';
import type { Login } from './log-in.ts';
import type { CachedClient, LoginSettings } from './login-settings.ts';
import { probeRemote, type Remote } from './probe-remote.ts';

/**
 * Whether the proxy of a workload can use the tokens of an earlier login: the server accepts the access token, or it can be
 * refreshed now or, when the token endpoint is away, perhaps later.
 * @throws the signal's reason · GatewayFault when the client secret cannot be read
 */
export async function isLoggedIn(
  state: string,
  config: RunConfig,
  remote: Remote,
  signal: AbortSignal,
): Promise<boolean> {
  const options = oauthOptionsOf(config, state);
  if (options === undefined) return false;
  const store = workloadTokenStore(state, config.name);
  const { accessToken, refreshToken, expiresAtMs = Number.POSITIVE_INFINITY } = await store.read();
  if (accessToken !== undefined && expiresAtMs > Date.now() + SPARE_MS) {
    if (!(await probeRemote(remote, signal, { accessToken })).isRefused) return true;
  }
  if (refreshToken === undefined) return false;
  const http = await createOauthHttp([remote.url, options.tokenUrl]);
  try {
    const endpoint = await tokenEndpointOf(options, http, 'remote_auth_config');
    const form = { refresh_token: refreshToken };
    const answer = await requestTokens(endpoint, 'refresh_token', form, Date.now, signal);
    if (!isFailure(answer)) await store.write(answer);
    else if (answer.isPermanent) await store.forget();
    return !isFailure(answer) || !answer.isPermanent;
  } finally {
    await http.close();
  }
}

const SPARE_MS = 10_000;

/** What the user configured for the login of a workload, with the secret that its configuration refers to. */
export function settingsOf(
  auth: RemoteAuthConfig,
  clientSecret: string | undefined,
  metadataUrl: string | undefined,
): LoginSettings {
  const { issuer, authorize_url: authorizationUrl, token_url: tokenUrl, client_id: clientId, resource, scopes } = auth;
  return {
    isRequired: auth.required === true || issuer !== undefined || authorizationUrl !== undefined,
    ...present({ issuer, authorizationUrl, tokenUrl, clientId, resource, scopes }),
    ...present({
      clientSecret,
      metadataUrl,
      scopeParameter: auth.scope_param_name,
      extraParameters: auth.oauth_params,
      callbackPort: auth.callback_port,
    }),
  };
}

/** The client that an earlier login registered. */
export async function cachedClientOf(state: string, config: RunConfig): Promise<CachedClient | undefined> {
  const auth = config.remote_auth_config ?? {};
  const { cached_client_id: id, cached_issuer: issuer, cached_dcr_callback_port: port } = auth;
  if (id === undefined || issuer === undefined || port === undefined) return undefined;
  const secrets = workloadSecretStore(state, config.name);
  const expiry = auth.cached_secret_expiry;
  return {
    ...{ id, issuer, port, method: auth.cached_token_auth_method ?? 'none' },
    ...present({
      secret: await secrets.read(LOGIN_SECRETS.clientSecret),
      secretExpiresAtMs: expiry === undefined ? undefined : Date.parse(expiry),
      scopes: auth.cached_scopes,
      registrationUrl: auth.cached_reg_client_uri,
      registrationToken: await secrets.read(LOGIN_SECRETS.registrationToken),
    }),
  };
}

/** Keeps a login: its secrets first, so that the configuration never refers to missing ones. */
export async function storeLogin(state: string, name: string, login: Login): Promise<void> {
  const { client, tokens } = login;
  const secrets = workloadSecretStore(state, name);
  await forgetLogin(state, name);
  await workloadTokenStore(state, name).write(tokens);
  if (client.from !== 'settings') {
    if (client.secret !== undefined) await secrets.write(LOGIN_SECRETS.clientSecret, client.secret);
    if (client.registrationToken !== undefined) {
      await secrets.write(LOGIN_SECRETS.registrationToken, client.registrationToken);
    }
  }
  await changeConfig(state, name, (config) => ({
    ...config,
    remote_auth_config: { ...withoutLogin(config.remote_auth_config), ...referencesOf(login) },
  }));
}

function referencesOf({ tokens, issuer, tokenUrl, resource, scopes, client, callbackPort }: Login): RemoteAuthConfig {
  const refreshRef =
    tokens.refreshToken === undefined ? undefined : `${LOGIN_SECRETS.refreshToken},target=refresh_token`;
  return present({
    ...(client.from === 'registration' || client.from === 'cache' ? registrationOf(client, callbackPort) : {}),
    cached_cimd_client_id: client.from === 'metadata' ? client.id : undefined,
    cached_token_auth_method: client.method,
    cached_issuer: issuer,
    cached_token_url: tokenUrl,
    cached_resource: resource,
    cached_scopes: [...scopes],
    cached_access_token_ref: `${LOGIN_SECRETS.accessToken},target=access_token`,
    cached_refresh_token_ref: refreshRef,
    cached_token_expiry: dateOf(tokens.expiresAtMs),
  });
}

function registrationOf(client: Login['client'], callbackPort: number): RemoteAuthConfig {
  const { clientSecret, registrationToken } = LOGIN_SECRETS;
  return present({
    cached_client_id: client.id,
    cached_client_secret_ref: client.secret === undefined ? undefined : `${clientSecret},target=client_secret`,
    cached_secret_expiry: dateOf(client.secretExpiresAtMs),
    cached_reg_client_uri: client.registrationUrl,
    cached_reg_token_ref:
      client.registrationToken === undefined ? undefined : `${registrationToken},target=registration_access_token`,
    cached_dcr_callback_port: callbackPort,
  });
}

function dateOf(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString();
}

/** The scopes of the last login, and those that the server has asked for since. */
export function furtherScopesOf({ remote_auth_config: auth = {} }: RunConfig): readonly string[] {
  return [...(auth.cached_scopes ?? []), ...(auth.cached_lacking_scopes ?? [])];
}

/** The server asks for further scopes, which the next login would request; the last login stays. */
export async function forgetLackingScopes(state: string, name: string): Promise<void> {
  await changeConfig(state, name, (config) => {
    const { cached_lacking_scopes: _, ...auth } = config.remote_auth_config ?? {};
    return { ...config, remote_auth_config: auth };
  });
}

/** Removes a login with its registration. */
export async function forgetLogin(state: string, name: string): Promise<void> {
  await changeConfig(state, name, withoutStoredLogin);
  const secrets = workloadSecretStore(state, name);
  for (const secret of Object.values(LOGIN_SECRETS)) await secrets.remove(secret);
}
