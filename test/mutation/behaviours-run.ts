import type { Mutation } from './mutation.ts';

const CONFIG = 'hosts/workloads/config/config-from-flags.ts';
const CONTAINER = 'hosts/workloads/config/container-from-flags.ts';
const FILES = 'hosts/workloads/config/env-files.ts';
const LOGIN = 'hosts/workloads/config/remote-auth-from-flags.ts';
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
  ['run.option.remote-auth', LOGIN, 'flags.remoteAuth === true ? true : undefined', 'undefined'],
  ['run.option.remote-auth-client-secret', LOGIN, 'flags.remoteAuthClientId', 'undefined'],
  [
    'run.option.remote-auth-client-secret',
    LOGIN,
    'if (secret !== undefined)',
    'if (file !== undefined && secret !== undefined)',
  ],
  ['run.option.remote-auth-callback-port', LOGIN, 'flags.remoteAuthCallbackPort', 'undefined'],
  ['run.option.remote-auth-scope-param-name', LOGIN, 'flags.remoteAuthScopeParamName', 'undefined'],
  ['run.option.remote-auth-skip-browser', LOGIN, 'flags.remoteAuthSkipBrowser', 'undefined'],
  ['run.option.remote-auth-timeout', LOGIN, 'timeout: flags.remoteAuthTimeout', 'timeout: undefined'],
  ['run.option.oidc-scopes-default', POLICY, "['openid']", "['profile']"],
  ['run.option.oidc-audience', POLICY, 'audience: oidcAudience', 'audience: undefined'],
  ['run.option.jwks-allow-private-ip', POLICY, 'flags.jwksAllowPrivateIp', 'undefined'],
  ['run.option.oidc-insecure-allow-http', POLICY, 'flags.oidcInsecureAllowHttp', 'undefined'],
  ['run.option.otel-service-name', POLICY, 'flags.otelServiceName ?? ', ''],
  ['run.option.otel-sampling-rate', POLICY, "DEFAULT_RATE = '0.1'", "DEFAULT_RATE = '0.2'"],
  ['run.option.otel-tracing-enabled', POLICY, 'flags.otelTracingEnabled !== false', 'true'],
  ['run.option.otel-use-legacy-attributes', POLICY, 'flags.otelUseLegacyAttributes !== false', 'false'],
  ['run.option.token-exchange-header-name', POLICY, "header === undefined ? 'replace' : 'custom'", "'replace'"],
  ['run.option.token-exchange-subject-token-type', POLICY, "?? 'access_token'", "?? 'id_token'"],
  ['run.option.proxy-mode-sse-deprecated', CONFIG, "proxy_mode === 'sse' ?", 'false ?'],
  ['run.option.session-ttl', PLAN, 'durationMs(config.session_ttl) || SESSION_TTL_MS', 'SESSION_TTL_MS'],
  ['run.option.stateless-post-only', PLAN, '{ postOnly: true }', '{ postOnly: false }'],
  ['run.option.allowed-origins', PLAN, 'allowedOrigins: config.allowed_origins', 'allowedOrigins: undefined'],
  ['run.option.trust-proxy-headers', PLAN, '{ trustForwarded, ', '{ trustForwarded: false, '],
  ['run.option.endpoint-prefix', PLAN, '...(prefix === undefined ? {} : { prefix })', '...{}'],
  ['run.option.tools', CONFIG, '{ tools_filter: [...flags.tools] }', '{}'],
  ['run.option.target-host', CONFIG, '{ target_host: flags.targetHost }', '{}'],
].map(([id, file, from, to]) => ({ id, file, from, to }) as Mutation);
