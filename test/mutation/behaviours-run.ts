import type { Mutation } from './mutation.ts';

const CONFIG = 'hosts/workloads/config/config-from-flags.ts';
const CONTAINER = 'hosts/workloads/config/container-from-flags.ts';
const FILES = 'hosts/workloads/config/env-files.ts';
const OF_LOGIN = 'hosts/workloads/fields/remote-auth-options.ts';
const OF_POLICY = 'hosts/workloads/fields/policy-options.ts';
const OPTIONS = 'hosts/workloads/fields/proxy-options.ts';
const PLAN = 'hosts/workloads/proxy/plan.ts';
const POLICY = 'hosts/workloads/config/policy-from-flags.ts';

/** Options of `toolmgr run`. */
export const runBehaviours: readonly Mutation[] = [
  [
    'run.option.permission-profile-default',
    CONTAINER,
    "ofRegistry === undefined ? 'network'",
    "ofRegistry === undefined ? 'none'",
  ],
  ['run.option.env-file', FILES, '(?:export\\s+)?', ''],
  ['run.option.env-file-dir', FILES, "!entry.name.startsWith('.')", 'true'],
  ['run.option.remote-auth', OF_LOGIN, "stored: 'remote_auth_config.required',", ''],
  ['run.option.remote-auth-client-secret', OF_LOGIN, "stored: 'remote_auth_config.client_id',", ''],
  ['run.option.remote-auth-client-secret', OF_LOGIN, "stored: 'remote_auth_config.client_secret',", ''],
  ['run.option.remote-auth-callback-port', OF_LOGIN, "stored: 'remote_auth_config.callback_port',", ''],
  ['run.option.remote-auth-scope-param-name', OF_LOGIN, "stored: 'remote_auth_config.scope_param_name',", ''],
  ['run.option.remote-auth-skip-browser', OF_LOGIN, "stored: 'remote_auth_config.skip_browser',", ''],
  ['run.option.remote-auth-timeout', OF_LOGIN, "stored: 'remote_auth_config.timeout',", ''],
  ['run.option.oidc-scopes-default', OF_POLICY, "['openid']", "['profile']"],
  ['run.option.oidc-audience', OF_POLICY, "stored: 'oidc_config.audience',", ''],
  ['run.option.jwks-allow-private-ip', OF_POLICY, "stored: 'oidc_config.allowPrivateIP',", ''],
  ['run.option.oidc-insecure-allow-http', OF_POLICY, "stored: 'oidc_config.insecureAllowHTTP',", ''],
  ['run.option.otel-service-name', OF_POLICY, "stored: 'telemetry_config.serviceName',", ''],
  ['run.option.otel-sampling-rate', OF_POLICY, "absent: '0.1'", "absent: '0.2'"],
  ['run.option.otel-tracing-enabled', OF_POLICY, "stored: 'telemetry_config.tracingEnabled',", ''],
  ['run.option.otel-use-legacy-attributes', OF_POLICY, "stored: 'telemetry_config.useLegacyAttributes',", ''],
  ['run.option.token-exchange-header-name', POLICY, "? 'replace' : 'custom'", "? 'replace' : 'replace'"],
  ['run.option.token-exchange-subject-token-type', OF_POLICY, "absent: 'access_token'", "absent: 'id_token'"],
  ['run.option.proxy-mode-sse-deprecated', CONFIG, "proxy_mode === 'sse' ?", 'false ?'],
  ['run.option.session-ttl', PLAN, 'durationMs(config.session_ttl) || SESSION_TTL_MS', 'SESSION_TTL_MS'],
  ['run.option.stateless-post-only', PLAN, '{ postOnly: true }', '{ postOnly: false }'],
  ['run.option.allowed-origins', PLAN, 'allowedOrigins: config.allowed_origins', 'allowedOrigins: undefined'],
  ['run.option.trust-proxy-headers', PLAN, '{ trustForwarded, ', '{ trustForwarded: false, '],
  ['run.option.endpoint-prefix', PLAN, '...(prefix === undefined ? {} : { prefix })', '...{}'],
  ['run.option.tools', OPTIONS, "stored: 'tools_filter',", ''],
  ['run.option.target-host', OPTIONS, "stored: 'target_host',", ''],
].map(([id, file, from, to]) => ({ id, file, from, to }) as Mutation);
