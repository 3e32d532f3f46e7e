import { createRecord, type RunConfig, readRunConfig } from '@toolmgr/plugins/kit/workloads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EVERY_FIELD } from '../../../plugins/kit/workloads/state/run-config/every-field.ts';
import { type StartedManager, startManager } from '../../../support/manager.ts';
import { proves } from '../../../support/proves.ts';
import { createSmall, LONG, removeAll } from './small.ts';

type Kind = 'boolean' | 'integer' | 'string' | 'strings' | 'map' | 'object' | 'objects';

let manager: StartedManager;
/** The exported configurations, as the operation answers. */
const exported: Record<string, unknown>[] = [];

const named = EVERY_FIELD.map((config, index): RunConfig => {
  const { base_name: _, container_name: __, ...rest } = config;
  const name = `${config.name}-${index}`;
  return config.container_name === undefined
    ? { ...rest, name }
    : { ...rest, name, base_name: name, container_name: name };
});

beforeAll(async () => {
  manager = await startManager();
  for (const config of named) {
    await createRecord(manager.state, config);
    const answer = await manager.request('GET', `/api/v1beta/workloads/${config.name}/export`);
    expect(answer.status, answer.text).toBe(200);
    exported.push(answer.body);
  }
}, LONG);

afterAll(async () => {
  await removeAll(manager.state);
  await manager.stop();
}, LONG);

/** Values at a path of dots in every export; a list is entered. */
function valuesAt(path: string): readonly unknown[] {
  const step = (values: readonly unknown[], name: string) =>
    values
      .flat()
      .flatMap((value) =>
        typeof value === 'object' && value !== null && name in value ? [Reflect.get(value, name)] : [],
      );
  return path.split('.').reduce(step, exported);
}

const isTexts = (value: unknown) =>
  Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'string');

const CHECKS: Readonly<Record<Kind, (value: unknown) => boolean>> = {
  boolean: (value) => typeof value === 'boolean',
  integer: Number.isSafeInteger,
  string: (value) => typeof value === 'string' && value !== '',
  strings: isTexts,
  map: (value) => typeof value === 'object' && value !== null && isTexts(Object.values(value)),
  object: (value) => typeof value === 'object' && value !== null,
  objects: (value) => Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'object'),
};

const of = (prefix: string, names: string, kind: Kind): [string, Kind][] =>
  names.split(' ').map((name) => [prefix === '' ? name : `${prefix}.${name}`, kind]);

const AUTH = 'embedded_auth_server_config';
const OAUTH2 = `${AUTH}.upstreams.oauth2_config`;
const OIDC = `${AUTH}.upstreams.oidc_config`;
const REDIS = `${AUTH}.storage.redis_config`;

const ROWS = [
  ['manager.export.allow-docker-gateway', of('', 'allow_docker_gateway', 'boolean')],
  ['manager.export.debug', of('', 'debug', 'boolean')],
  ['manager.export.isolate-network', of('', 'isolate_network', 'boolean')],
  ['manager.export.stateless', of('', 'stateless', 'boolean')],
  ['manager.export.strict-protocol-validation', of('', 'strict_protocol_validation', 'boolean')],
  ['manager.export.trust-proxy-headers', of('', 'trust_proxy_headers', 'boolean')],
  ['manager.export.allowed-origins', of('', 'allowed_origins', 'strings')],
  ['manager.export.cmd-args', of('', 'cmd_args', 'strings')],
  ['manager.export.publish', of('', 'publish', 'strings')],
  ['manager.export.secrets', of('', 'secrets', 'strings')],
  ['manager.export.tools-filter', of('', 'tools_filter', 'strings')],
  ['manager.export.volumes', of('', 'volumes', 'strings')],
  ['manager.export.audit-config-path', of('', 'audit_config_path', 'string')],
  ['manager.export.authz-config-path', of('', 'authz_config_path', 'string')],
  ['manager.export.base-name', of('', 'base_name', 'string')],
  ['manager.export.container-name', of('', 'container_name', 'string')],
  ['manager.export.endpoint-prefix', of('', 'endpoint_prefix', 'string')],
  ['manager.export.env-file-dir', of('', 'env_file_dir', 'string')],
  ['manager.export.group', of('', 'group', 'string')],
  ['manager.export.host', of('', 'host', 'string')],
  ['manager.export.image', of('', 'image', 'string')],
  ['manager.export.jwks-auth-token-file', of('', 'jwks_auth_token_file', 'string')],
  ['manager.export.k8s-pod-template-patch', of('', 'k8s_pod_template_patch', 'string')],
  ['manager.export.name', of('', 'name', 'string')],
  ['manager.export.permission-profile-name-or-path', of('', 'permission_profile_name_or_path', 'string')],
  ['manager.export.rate-limit-namespace', of('', 'rate_limit_namespace', 'string')],
  ['manager.export.registry-api-url', of('', 'registry_api_url', 'string')],
  ['manager.export.registry-server-name', of('', 'registry_server_name', 'string')],
  ['manager.export.registry-url', of('', 'registry_url', 'string')],
  ['manager.export.remote-url', of('', 'remote_url', 'string')],
  ['manager.export.schema-version', of('', 'schema_version', 'string')],
  ['manager.export.target-host', of('', 'target_host', 'string')],
  ['manager.export.tool-ca-bundle', of('', 'tool_ca_bundle', 'string')],
  ['manager.export.tool-ca-bundle-meaning', of('oidc_config', 'cacertPath', 'string')],
  ['manager.export.container-labels', of('', 'container_labels', 'map')],
  ['manager.export.env-vars', of('', 'env_vars', 'map')],
  ['manager.export.mcpserver-generation', of('', 'mcpserver_generation', 'integer')],
  ['manager.export.port', of('', 'port', 'integer')],
  ['manager.export.target-port', of('', 'target_port', 'integer')],
  ['manager.export.transport', of('', 'transport', 'string')],
  ['manager.export.proxy-mode', of('', 'proxy_mode', 'string')],
  ['manager.export.session-ttl', of('', 'session_ttl', 'string')],
  ['manager.export.audit-config-strings', of('audit_config', 'component logFile', 'string')],
  [
    'manager.export.audit-config-flags',
    of('audit_config', 'detectApplicationErrors enabled includeRequestData includeResponseData', 'boolean'),
  ],
  ['manager.export.audit-config-lists', of('audit_config', 'eventTypes excludeEventTypes', 'strings')],
  ['manager.export.audit-config-numbers', of('audit_config', 'maxDataSize maxDelegationDepth', 'integer')],
  ['manager.export.authz-config', of('authz_config', 'type version', 'string')],
  [
    'manager.export.aws-sts-config-strings',
    of(
      'aws_sts_config',
      'fallback_role_arn region role_claim service session_name_claim subject_provider_name',
      'string',
    ),
  ],
  ['manager.export.aws-sts-config-session-duration', of('aws_sts_config', 'session_duration', 'integer')],
  [
    'manager.export.aws-sts-config-role-mappings',
    [
      ...of('aws_sts_config.role_mappings', 'claim matcher role_arn', 'string'),
      ...of('aws_sts_config.role_mappings', 'priority', 'integer'),
    ],
  ],
  ['manager.export.header-forward', of('header_forward', 'add_headers_from_secret add_plaintext_headers', 'map')],
  ['manager.export.ignore-config', of('ignore_config', 'loadGlobal printOverlays', 'boolean')],
  ['manager.export.mutating-webhooks', of('', 'mutating_webhooks', 'objects')],
  ['manager.export.validating-webhooks', of('', 'validating_webhooks', 'objects')],
  [
    'manager.export.oidc-config-strings',
    of(
      'oidc_config',
      'audience authTokenFile cacertPath clientID clientSecret introspectionURL issuer jwksurl resourceURL',
      'string',
    ),
  ],
  ['manager.export.oidc-config-flags', of('oidc_config', 'allowPrivateIP insecureAllowHTTP', 'boolean')],
  ['manager.export.oidc-config-scopes', of('oidc_config', 'scopes', 'strings')],
  ['manager.export.rate-limit-config', of('rate_limit_config', 'perUser shared', 'object')],
  [
    'manager.export.rate-limit-config-tools',
    [...of('rate_limit_config.tools', 'name', 'string'), ...of('rate_limit_config.tools', 'perUser shared', 'object')],
  ],
  ['manager.export.remote-auth-config', of('', 'remote_auth_config', 'object')],
  ['manager.export.runtime-config', of('', 'runtime_config', 'object')],
  ['manager.export.scaling-config-backend-replicas', of('scaling_config', 'backend_replicas', 'integer')],
  [
    'manager.export.scaling-config-session-redis',
    [
      ...of('scaling_config.session_redis', 'address key_prefix', 'string'),
      ...of('scaling_config.session_redis', 'db', 'integer'),
    ],
  ],
  [
    'manager.export.telemetry-config-strings',
    of('telemetry_config', 'caCertPath endpoint samplingRate serviceName serviceVersion', 'string'),
  ],
  ['manager.export.telemetry-config-maps', of('telemetry_config', 'customAttributes headers', 'map')],
  [
    'manager.export.telemetry-config-flags',
    of(
      'telemetry_config',
      'enablePrometheusMetricsPath insecure metricsEnabled tracingEnabled useLegacyAttributes',
      'boolean',
    ),
  ],
  ['manager.export.telemetry-config-environment-variables', of('telemetry_config', 'environmentVariables', 'strings')],
  [
    'manager.export.token-exchange-config-strings',
    of(
      'token_exchange_config',
      'audience client_id client_secret external_token_header_name header_strategy subject_token_type token_url',
      'string',
    ),
  ],
  ['manager.export.token-exchange-config-scopes', of('token_exchange_config', 'scopes', 'strings')],
  ['manager.export.tools-override', of('tools_override.a', 'description name', 'string')],
  [
    'manager.export.upstream-swap-config',
    of('upstream_swap_config', 'custom_header_name header_strategy provider_name', 'string'),
  ],
  ['manager.export.embedded-auth-server-config', of('', AUTH, 'object')],
  ['manager.bucket.max-tokens', of('rate_limit_config.shared', 'maxTokens', 'integer')],
  ['manager.webhook.failure-policy', of('mutating_webhooks', 'failure_policy', 'string')],
  ['manager.webhook.strings', of('mutating_webhooks', 'hmac_secret_ref name url', 'string')],
  ['manager.webhook.timeout', of('mutating_webhooks', 'timeout', 'integer')],
  [
    'manager.webhook.tls-paths',
    of('mutating_webhooks.tls_config', 'ca_bundle_path client_cert_path client_key_path', 'string'),
  ],
  ['manager.webhook.tls-insecure-skip-verify', of('mutating_webhooks.tls_config', 'insecure_skip_verify', 'boolean')],
  [
    'manager.remote-auth.endpoints',
    of('remote_auth_config', 'authorize_url issuer resource scope_param_name token_url', 'string'),
  ],
  [
    'manager.remote-auth.credentials',
    of('remote_auth_config', 'bearer_token bearer_token_file client_id client_secret client_secret_file', 'string'),
  ],
  [
    'manager.remote-auth.cached-client',
    of(
      'remote_auth_config',
      'cached_cimd_client_id cached_client_id cached_client_secret_ref cached_reg_client_uri cached_reg_token_ref',
      'string',
    ),
  ],
  [
    'manager.remote-auth.cached-token',
    of(
      'remote_auth_config',
      'cached_refresh_token_ref cached_secret_expiry cached_token_auth_method cached_token_expiry',
      'string',
    ),
  ],
  ['manager.remote-auth.ports', of('remote_auth_config', 'cached_dcr_callback_port callback_port', 'integer')],
  ['manager.remote-auth.oauth-params', of('remote_auth_config', 'oauth_params', 'map')],
  ['manager.remote-auth.scopes', of('remote_auth_config', 'scopes', 'strings')],
  ['manager.remote-auth.flags', of('remote_auth_config', 'skip_browser use_pkce', 'boolean')],
  ['manager.remote-auth.timeout', of('remote_auth_config', 'timeout', 'string')],
  ['manager.embedded-auth.allowed-audiences', of(AUTH, 'allowed_audiences', 'strings')],
  ['manager.embedded-auth.baseline-client-scopes', of(AUTH, 'baseline_client_scopes', 'strings')],
  ['manager.embedded-auth.hmac-secret-files', of(AUTH, 'hmac_secret_files', 'strings')],
  ['manager.embedded-auth.scopes-supported', of(AUTH, 'scopes_supported', 'strings')],
  ['manager.embedded-auth.authorization-endpoint-base-url', of(AUTH, 'authorization_endpoint_base_url', 'string')],
  ['manager.embedded-auth.delegation-token-lifespan', of(AUTH, 'delegation_token_lifespan', 'string')],
  ['manager.embedded-auth.issuer', of(AUTH, 'issuer', 'string')],
  ['manager.embedded-auth.schema-version', of(AUTH, 'schema_version', 'string')],
  ['manager.embedded-auth.disable-upstream-token-injection', of(AUTH, 'disable_upstream_token_injection', 'boolean')],
  ['manager.embedded-auth.insecure-allow-http', of(AUTH, 'insecure_allow_http', 'boolean')],
  [
    'manager.embedded-auth.cimd',
    [
      ...of(`${AUTH}.cimd`, 'cache_fallback_ttl', 'string'),
      ...of(`${AUTH}.cimd`, 'cache_max_size', 'integer'),
      ...of(`${AUTH}.cimd`, 'enabled', 'boolean'),
    ],
  ],
  [
    'manager.embedded-auth.signing-key-config',
    [
      ...of(`${AUTH}.signing_key_config`, 'fallback_key_files', 'strings'),
      ...of(`${AUTH}.signing_key_config`, 'key_dir signing_key_file', 'string'),
    ],
  ],
  ['manager.embedded-auth.storage-type', of(`${AUTH}.storage`, 'type', 'string')],
  [
    'manager.embedded-auth.storage-redis-strings',
    of(REDIS, 'addr auth_type dial_timeout key_prefix read_timeout write_timeout', 'string'),
  ],
  [
    'manager.embedded-auth.storage-redis-acl',
    of(`${REDIS}.acl_user_config`, 'password_env_var username_env_var', 'string'),
  ],
  ['manager.embedded-auth.storage-redis-cluster-mode', of(REDIS, 'cluster_mode', 'boolean')],
  [
    'manager.embedded-auth.storage-redis-sentinel',
    [
      ...of(`${REDIS}.sentinel_config`, 'db', 'integer'),
      ...of(`${REDIS}.sentinel_config`, 'master_name', 'string'),
      ...of(`${REDIS}.sentinel_config`, 'sentinel_addrs', 'strings'),
    ],
  ],
  [
    'manager.embedded-auth.storage-redis-tls',
    ['tls', 'sentinel_tls'].flatMap((name) => [
      ...of(`${REDIS}.${name}`, 'ca_cert_file', 'string'),
      ...of(`${REDIS}.${name}`, 'insecure_skip_verify', 'boolean'),
    ]),
  ],
  [
    'manager.embedded-auth.token-lifespans',
    of(`${AUTH}.token_lifespans`, 'access_token_lifespan auth_code_lifespan refresh_token_lifespan', 'string'),
  ],
  ['manager.embedded-auth.upstreams', of(AUTH, 'upstreams', 'objects')],
  ['manager.upstream.name-and-type', of(`${AUTH}.upstreams`, 'name type', 'string')],
  [
    'manager.upstream.oauth2-strings',
    of(
      OAUTH2,
      'authorization_endpoint client_id client_secret_env_var client_secret_file redirect_uri token_endpoint',
      'string',
    ),
  ],
  ['manager.upstream.oauth2-flags', of(OAUTH2, 'allow_private_ips insecure_allow_http', 'boolean')],
  [
    'manager.upstream.oauth2-authorization-params',
    [...of(OAUTH2, 'additional_authorization_params', 'map'), ...of(OAUTH2, 'scopes', 'strings')],
  ],
  [
    'manager.upstream.oauth2-dcr-config',
    of(
      `${OAUTH2}.dcr_config`,
      'discovery_url initial_access_token_env_var initial_access_token_file registration_endpoint software_id software_statement',
      'string',
    ),
  ],
  [
    'manager.upstream.oauth2-identity-from-token',
    of(`${OAUTH2}.identity_from_token`, 'email_path name_path subject_path', 'string'),
  ],
  [
    'manager.upstream.oauth2-token-response-mapping',
    of(`${OAUTH2}.token_response_mapping`, 'access_token_path expires_in_path refresh_token_path scope_path', 'string'),
  ],
  ['manager.upstream.oauth2-userinfo', of(OAUTH2, 'userinfo', 'object')],
  [
    'manager.upstream.oidc-strings',
    of(OIDC, 'client_id client_secret_env_var client_secret_file issuer_url redirect_uri subject_claim', 'string'),
  ],
  ['manager.upstream.oidc-flags', of(OIDC, 'allow_private_ips insecure_allow_http', 'boolean')],
  [
    'manager.upstream.oidc-authorization-params',
    [...of(OIDC, 'additional_authorization_params', 'map'), ...of(OIDC, 'scopes', 'strings')],
  ],
  ['manager.upstream.oidc-userinfo-override', of(OIDC, 'userinfo_override', 'object')],
  [
    'manager.user-info.fields',
    [
      ...of(`${OIDC}.userinfo_override`, 'additional_headers', 'map'),
      ...of(`${OIDC}.userinfo_override`, 'endpoint_url http_method', 'string'),
    ],
  ],
  [
    'manager.user-info.field-mapping',
    of(`${OIDC}.userinfo_override.field_mapping`, 'email_fields name_fields subject_fields', 'strings'),
  ],
] as const;

describe('an exported run configuration over HTTP', () => {
  for (const [id, fields] of ROWS) {
    proves(id, `has ${fields.map(([path, kind]) => `${path} (${kind})`).join(', ')}`, () => {
      for (const [path, kind] of fields) {
        const values = valuesAt(path);
        expect(values.length, path).toBeGreaterThan(0);
        // tells wrong types from empty values: at least one value is not empty, and each has the type
        expect(values.some(CHECKS[kind]), `${path}: ${JSON.stringify(values)}`).toBe(true);
      }
    });
  }

  it('is the stored one in every field, and reads back as the same configuration', () => {
    exported.forEach((body, index) => {
      const { created_at: _, ...config } = named[index] as RunConfig;
      expect(body).toEqual(config);
      expect(readRunConfig(body)).toEqual({ config });
    });
  });

  proves(
    'manager.export.middleware-configs',
    'is imported with middleware, which becomes the fields that it stands for',
    async () => {
      await createSmall(manager, 'middled', {
        middleware_configs: [{ type: 'tool-filter', parameters: { filter_tools: ['say'] } }],
        additional_middleware_configs: [{ type: 'audit', parameters: { config_data: { enabled: false } } }],
      });
      const { body } = await manager.request('GET', '/api/v1beta/workloads/middled/export');
      expect(body).toMatchObject({ tools_filter: ['say'], audit_config: { enabled: false } });
    },
    LONG,
  );

  proves(
    'manager.bucket.refill-period',
    'is imported with refillPeriod as an object, and exports it as a duration text',
    async () => {
      await createSmall(manager, 'limited', {
        rate_limit_config: { shared: { maxTokens: 100, refillPeriod: { Duration: 60_000_000_000 } } },
      });
      const { body } = await manager.request('GET', '/api/v1beta/workloads/limited/export');
      expect(body.rate_limit_config).toEqual({ shared: { maxTokens: 100, refillPeriod: '1m' } });
    },
    LONG,
  );
});
