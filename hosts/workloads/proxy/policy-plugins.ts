import { type PlanInput, type PluginUse, present } from '@toolmgr/core';
import type { RunConfig } from '@toolmgr/plugins/kit/workloads';
import { secretNameOf } from '../config/collect-secrets.ts';
import { oauthOptionsOf } from '../login/oauth-options.ts';
import { headerSecret } from '../secrets/references.ts';
import { inCamelCase } from './auth-server-plugin.ts';

/** Who calls: OIDC where it is configured, anyone otherwise. Client secrets are read by their name. */
export function callerPlugin({ oidc_config: oidc, jwks_auth_token_file, tool_ca_bundle }: RunConfig): PluginUse {
  if (oidc === undefined) return { use: 'incoming-auth/anonymous' };
  return {
    use: 'incoming-auth/oidc',
    with: present({
      issuer: oidc.issuer,
      audience: oidc.audience,
      // only introspection sends it
      clientId: oidc.clientID ?? 'toolmgr',
      clientSecretEnv: oidc.clientSecret === undefined ? undefined : secretNameOf(oidc.clientSecret),
      introspectionUrl: oidc.introspectionURL,
      jwksUrl: oidc.jwksurl,
      jwksAuthTokenFile: oidc.authTokenFile ?? jwks_auth_token_file,
      scopes: oidc.scopes,
      resource: oidc.resourceURL,
      caBundlePath: oidc.cacertPath ?? tool_ca_bundle,
      insecureAllowHttp: oidc.insecureAllowHTTP,
      jwksAllowPrivateIp: oidc.allowPrivateIP,
    }),
  };
}

/** Decisions, records and telemetry that the configuration asks for. `secrets`: values by name. */
export function policyPlugins(config: RunConfig, secrets: Readonly<Record<string, string>>): PluginUse[] {
  return [
    ...webhooks(config),
    ...authorization(config),
    ...toolNames(config),
    ...audit(config),
    ...telemetry(config, secrets),
  ];
}

function webhooks({ mutating_webhooks: mutating, validating_webhooks: validating, transport }: RunConfig): PluginUse[] {
  if (!mutating?.length && !validating?.length) return [];
  return [{ use: 'interception/webhooks', with: { ...present({ mutating, validating }), transport } }];
}

function authorization({ authz_config: authz }: RunConfig): PluginUse[] {
  if (authz === undefined) return [];
  return [{ use: 'authorization/cedar', with: present(inCamelCase(authz.cedar) ?? {}) }];
}

/** The names of one backend never collide, so `priority` leaves them without a prefix. */
function toolNames({ name, tools_filter: filter, tools_override: overrides }: RunConfig): PluginUse[] {
  if (filter === undefined && overrides === undefined) return [];
  const tools = [{ workload: name, ...present({ filter, overrides }) }];
  const settings = {
    conflictResolution: 'priority',
    conflictResolutionConfig: { priorityOrder: [name] },
    tools,
  };
  return [{ use: 'aggregation', with: settings }];
}

function audit({ name, audit_config: given }: RunConfig): PluginUse[] {
  if (given === undefined || given.enabled === false) return [];
  const { enabled: _, ...settings } = given;
  return [{ use: 'audit', with: { component: name, ...settings } }];
}

function telemetry({ telemetry_config: given }: RunConfig, secrets: Readonly<Record<string, string>>): PluginUse[] {
  if (given === undefined) return [];
  const { headers, ...settings } = given;
  const isOn = settings.tracingEnabled || settings.metricsEnabled || settings.enablePrometheusMetricsPath;
  if (!isOn) return [];
  const values = Object.entries(headers ?? {}).map(([name, reference]) => [name, secrets[secretNameOf(reference)]]);
  return [
    {
      use: 'telemetry',
      with: { ...settings, ...(values.length === 0 ? {} : { headers: Object.fromEntries(values) }) },
    },
  ];
}

/** Limits of calls, and the store of their counts and of the sessions of clients. */
export function storePlugins({
  scaling_config: scaling,
  rate_limit_config: limits,
  rate_limit_namespace: namespace,
}: RunConfig): PluginUse[] {
  const redis = scaling?.session_redis;
  const isLimited = limits !== undefined && [limits.shared, limits.perUser, limits.tools?.[0]].some(Boolean);
  const store = redis === undefined ? 'memory' : 'redis';
  return [
    ...(redis === undefined
      ? isLimited
        ? [{ use: 'stores/memory' }]
        : []
      : [
          {
            use: 'stores/redis',
            with: present({
              address: redis.address,
              db: redis.db,
              keyPrefix: keyPrefixOf(redis.key_prefix, namespace),
            }),
          },
        ]),
    ...(isLimited ? [{ use: 'rate-limit', with: { store, ...limits } }] : []),
  ];
}

/** The prefix of keys in Redis; a namespace is part of it. */
function keyPrefixOf(prefix: string | undefined, namespace: string | undefined): string | undefined {
  if (namespace === undefined) return prefix;
  const before = prefix === undefined ? 'toolmgr:' : prefix.endsWith(':') ? prefix : `${prefix}:`;
  return `${before}${namespace}:`;
}

/** Plugins and the strategy that add credentials and headers to requests to the server. */
export function outgoingAuth(
  config: RunConfig,
  state: string,
): {
  readonly plugins: PluginUse[];
  readonly outgoingAuth: NonNullable<PlanInput['outgoingAuth']>;
} {
  const ofCaller = config.outgoing_auth ?? tokenExchange(config) ?? upstreamSwap(config) ?? awsSts(config);
  const inner = ofCaller ?? oauthClient(config, state) ?? { type: 'unauthenticated' };
  const headers = forwardedHeaders(config);
  const plugins = [
    { use: `outgoing-auth/${inner.type.replaceAll('_', '-')}` },
    ...(headers === undefined ? [] : [{ use: 'outgoing-auth/forward-headers' }]),
  ];
  const strategy = headers === undefined ? inner : { type: 'forward_headers', options: { ...headers, after: inner } };
  return { plugins, outgoingAuth: { default: strategy } };
}

function tokenExchange({ token_exchange_config: given }: RunConfig) {
  if (given === undefined) return undefined;
  const options = present({
    tokenUrl: given.token_url,
    audience: given.audience,
    clientId: given.client_id,
    clientSecretEnv: given.client_secret === undefined ? undefined : secretNameOf(given.client_secret),
    scopes: given.scopes,
    subjectTokenType: given.subject_token_type,
    headerName: given.header_strategy === 'custom' ? given.external_token_header_name : undefined,
  });
  return { type: 'token_exchange', options };
}

/** The caller's token of a provider of the authorization server. */
function upstreamSwap({ upstream_swap_config: given, embedded_auth_server_config: server }: RunConfig) {
  if (given === undefined) return undefined;
  const options = present({
    providerName: given.provider_name ?? server?.upstreams[0]?.name,
    headerName: given.header_strategy === 'custom' ? given.custom_header_name : undefined,
  });
  return { type: 'upstream_inject', options };
}

function awsSts({ aws_sts_config: given }: RunConfig) {
  return given && { type: 'aws_sts', options: inCamelCase(given) };
}

/** The tokens of a login, when there was one. */
function oauthClient(config: RunConfig, state: string) {
  const options = oauthOptionsOf(config, state);
  return options === undefined ? undefined : { type: 'oauth_client', options };
}

function forwardedHeaders({ header_forward: forward, remote_auth_config: auth, remote_headers: known }: RunConfig) {
  const { add_plaintext_headers: given, add_headers_from_secret: secrets } = forward ?? {};
  const headers = withDefaults(known ?? [], given, secrets);
  const reference = auth?.bearer_token;
  const file = auth?.bearer_token_file;
  if (headers === undefined && secrets === undefined && reference === undefined && file === undefined) return undefined;
  return present({
    headers,
    headersEnv:
      secrets && Object.fromEntries(Object.entries(secrets).map(([header, name]) => [header, headerSecret(name)])),
    bearerTokenEnv: reference === undefined ? undefined : secretNameOf(reference),
    bearerTokenFile: file,
  });
}

/** Headers with the defaults of those that have no value. */
function withDefaults(
  known: NonNullable<RunConfig['remote_headers']>,
  given: Readonly<Record<string, string>> | undefined,
  secrets: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> | undefined {
  const names = new Set(Object.keys({ ...given, ...secrets }).map((name) => name.toLowerCase()));
  const open = known.flatMap(({ name, default: value }) =>
    value === undefined || value === '' || names.has(name.toLowerCase()) ? [] : [[name, value] as const],
  );
  return open.length === 0 ? given : { ...Object.fromEntries(open), ...given };
}
