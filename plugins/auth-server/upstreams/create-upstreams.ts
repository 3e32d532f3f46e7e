import { createOutageLog, type Log } from '@toolmgr/core';
import { readSecretReference, type SecretReference, type SecretSlots } from '@toolmgr/plugins/kit/secrets';
import type { AuthStorage } from '../storage/storage.ts';
import type { UpstreamConfig } from './config.ts';
import { loadInBackground } from './loaded-value.ts';
import { onlyClient } from './oauth2/oauth2-clients.ts';
import type { Oauth2Config } from './oauth2/oauth2-config.ts';
import { configuredEndpoints, type Oauth2Endpoints, requestEndpoints } from './oauth2/oauth2-endpoints.ts';
import { createOauth2Upstream } from './oauth2/oauth2-upstream.ts';
import { createOidcUpstream } from './oidc/oidc-upstream.ts';
import { configuredClient } from './provider/provider-client.ts';
import { createProviderHttp } from './provider/provider-http.ts';
import { addressRules } from './provider/provider-urls.ts';
import { createRegisteredClients } from './registered-clients.ts';
import type { Upstream } from './upstream.ts';
import type { UpstreamParts } from './upstream-parts.ts';

/** What {@link createUpstreams} needs. */
export interface UpstreamsParts {
  /** For secrets by reference. */
  readonly slots: SecretSlots;
  readonly storage: AuthStorage;
  readonly log: Log;
  /** Epoch milliseconds. */
  now(): number;
  /** Issuer of this authorization server. */
  readonly issuer: string;
  /** The callback is `{resourceUrl}/oauth/callback`, unless a provider has its own. */
  readonly resourceUrl: string;
}

/**
 * Creates the configured providers, in their order. Waits for no provider: each is discovered in the background.
 * @throws GatewayFault SECRET_MISSING, PLAN_INCOMPLETE or that of an unreadable CA bundle, with the path of the setting
 */
export async function createUpstreams(
  providers: readonly UpstreamConfig[],
  parts: UpstreamsParts,
): Promise<readonly Upstream[]> {
  const made: Upstream[] = [];
  if (providers[0] !== undefined && isSynthetic(providers[0])) {
    parts.log.warn('each sign-in makes a new person: the first upstream has neither identityFromToken nor userInfo', {
      upstream: providers[0].name,
    });
  }
  try {
    for (const [index, provider] of providers.entries()) {
      const upstream = await createUpstream(provider, `authServerConfig.upstreamProviders[${index}]`, parts);
      made.push({ ...upstream, authority: authorityOf(provider) });
    }
    return made;
  } catch (cause) {
    await Promise.allSettled(made.map((upstream) => upstream.close()));
    throw cause;
  }
}

/** The issuer, or the host of a provider that has none. Source: OpenID Connect Core §5.7. */
function authorityOf({ oidcConfig, oauth2Config }: UpstreamConfig): string {
  if (oidcConfig !== undefined) return oidcConfig.issuerUrl;
  return new URL(oauth2Config?.tokenEndpoint ?? oauth2Config?.dcrConfig?.discoveryUrl ?? '').host;
}

/** Subjects come from access tokens. */
function isSynthetic({ oauth2Config }: UpstreamConfig): boolean {
  return (
    oauth2Config !== undefined && oauth2Config.identityFromToken === undefined && oauth2Config.userInfo === undefined
  );
}

async function createUpstream(provider: UpstreamConfig, where: string, parts: UpstreamsParts): Promise<Upstream> {
  const { log, now, slots } = parts;
  const config = provider.oidcConfig ?? provider.oauth2Config;
  if (config === undefined) throw new Error(`${where}: the schema requires oidcConfig or oauth2Config`);
  const section = provider.oidcConfig === undefined ? 'oauth2Config' : 'oidcConfig';
  const read = async (reference: SecretReference | undefined, key: string) =>
    reference === undefined ? undefined : readSecretReference(slots, reference, `${where}.${section}.${key}`);
  const secret = await read(config.clientSecretRef, 'clientSecretRef');
  const redirectUri = new URL(config.redirectUri ?? `${parts.resourceUrl.replace(/\/$/, '')}/oauth/callback`).href;
  const common = (): UpstreamParts => ({ provider, redirectUri, http: createProviderHttp(provider), log, now });

  if (provider.oidcConfig !== undefined) {
    const { clientId } = provider.oidcConfig;
    return createOidcUpstream(common(), provider.oidcConfig, configuredClient(clientId, secret));
  }
  const { oauth2Config = config as Oauth2Config } = provider;
  const { dcrConfig, clientId = '', scopes } = oauth2Config;
  if (dcrConfig === undefined) {
    const base = common();
    const endpoints = configuredEndpoints(oauth2Config);
    const clients = onlyClient(configuredClient(clientId, secret));
    return createOauth2Upstream(
      { ...base, clients, endpoints: async () => endpoints, close: () => base.http.close() },
      oauth2Config,
    );
  }
  const initialAccessToken = await read(dcrConfig.initialAccessTokenRef, 'dcrConfig.initialAccessTokenRef');
  const base = common();
  const found = dcrConfig.discoveryUrl === undefined ? undefined : discovered(base, oauth2Config);
  const endpoints = found?.get ?? (async () => configuredEndpoints(oauth2Config));
  const clients = createRegisteredClients({
    upstream: provider.name,
    issuer: parts.issuer,
    redirectUri,
    dcrConfig,
    initialAccessToken,
    scopes,
    http: base.http,
    storage: parts.storage,
    log,
    now,
    endpoints,
  });
  const close = async () => {
    found?.close();
    await base.http.close();
  };
  return createOauth2Upstream({ ...base, clients, endpoints, close }, oauth2Config);
}

/** The metadata of a provider, loaded in the background. Only this GET follows redirects, within its origin. */
function discovered({ provider, log, now }: UpstreamParts, config: Oauth2Config) {
  const http = createProviderHttp(provider, { followsWithinOrigin: true });
  const rulesOf = addressRules(provider);
  const loaded = loadInBackground<Oauth2Endpoints>({
    load: (signal) => requestEndpoints(provider.name, http, config, rulesOf, signal),
    outage: createOutageLog(
      { log, now },
      {
        began: 'an upstream provider cannot be discovered',
        over: 'the upstream provider is discovered',
        fields: { upstream: provider.name },
      },
    ),
    now,
    what: `upstream ${provider.name}: discovery`,
  });
  return {
    get: loaded.get,
    close() {
      loaded.close();
      void http.close();
    },
  };
}
