import type { RequirementId } from '../../requirements.ts';

/** The types of options in the contract. */
export type OptionType = 'string' | 'string[]' | 'strings' | 'bool' | 'int' | 'float' | 'duration';

/** One line of the contract's tables of options. */
export interface ContractOption {
  readonly option: `--${string}`;
  readonly short?: `-${string}`;
  readonly type: OptionType;
  /** As the contract writes it; absent when it has none. A boolean without one is false. */
  readonly default?: string;
  /** Two values of a repeatable option. */
  readonly samples?: readonly [string, string];
  /** Further lines of the ledger about it, besides `run.option.NAME`. */
  readonly more?: readonly RequirementId[];
}

/** The seven tables of the run spec, part 4, in its order. */
export const CONTRACT_OPTIONS: Readonly<Record<string, readonly ContractOption[]>> = {
  'workload and runtime': [
    { option: '--name', type: 'string', more: ['run.option.name-generated'] },
    { option: '--group', type: 'string', default: 'default', more: ['run.option.group-default'] },
    { option: '--foreground', short: '-f', type: 'bool', default: 'false', more: ['run.option.foreground-default'] },
    { option: '--from-config', type: 'string' },
    { option: '--env', short: '-e', type: 'string[]', samples: ['A=1', 'B=2'], more: ['run.command.repeatable-env'] },
    { option: '--env-file', type: 'string' },
    { option: '--env-file-dir', type: 'string' },
    { option: '--label', short: '-l', type: 'string[]', samples: ['a=1', 'b=2'] },
    { option: '--network', type: 'string', default: 'bridge', more: ['run.form.network-default-bridge'] },
    { option: '--isolate-network', type: 'bool', default: 'true', more: ['run.option.isolate-network-opt-out'] },
    {
      option: '--allow-docker-gateway',
      type: 'bool',
      default: 'false',
      more: ['run.option.allow-docker-gateway-hosts'],
    },
    { option: '--publish', short: '-p', type: 'string[]', samples: ['8081:81', '8082:82'] },
    { option: '--volume', short: '-v', type: 'string[]', samples: ['/a:/a', '/b:/b:ro'] },
    {
      option: '--permission-profile',
      type: 'string',
      default: 'network',
      more: ['run.option.permission-profile-default'],
    },
    {
      option: '--secret',
      type: 'string[]',
      samples: ['A,target=B', 'C,target=D'],
      more: ['run.option.secret-into-env'],
    },
    {
      option: '--image-verification',
      type: 'string',
      default: 'warn',
      more: ['run.option.image-verification-default'],
    },
    { option: '--ca-cert', type: 'string' },
    { option: '--build-with', type: 'string[]', samples: ['a<2', 'b>1'], more: ['run.option.build-with-uvx'] },
    { option: '--runtime-add-package', type: 'string[]', samples: ['git', 'curl'] },
    { option: '--runtime-image', type: 'string' },
    { option: '--ignore-globally', type: 'bool', default: 'true', more: ['run.option.ignore-globally-file'] },
    { option: '--print-resolved-overlays', type: 'bool', default: 'false' },
    { option: '--debug', type: 'bool' },
  ],
  'proxy and transport': [
    { option: '--transport', type: 'string' },
    { option: '--proxy-mode', type: 'string', default: 'streamable-http', more: ['run.option.proxy-mode-default'] },
    { option: '--host', type: 'string', default: '127.0.0.1', more: ['run.option.host-default'] },
    { option: '--proxy-port', type: 'int' },
    { option: '--target-host', type: 'string', default: '127.0.0.1' },
    { option: '--target-port', type: 'int' },
    { option: '--endpoint-prefix', type: 'string' },
    { option: '--allowed-origins', type: 'string[]', samples: ['https://a.example', 'https://b.example'] },
    { option: '--trust-proxy-headers', type: 'bool', default: 'false', more: ['run.option.trust-proxy-headers-which'] },
    { option: '--session-ttl', type: 'duration', default: '2h', more: ['run.option.session-ttl-zero'] },
    { option: '--stateless', type: 'bool', default: 'false', more: ['run.option.stateless-post-only'] },
    {
      ...{ option: '--strict-protocol-validation', type: 'bool', default: 'false' },
      more: ['run.option.strict-protocol-validation-400', 'run.option.strict-protocol-validation-off'],
    },
    { option: '--tools', type: 'string[]', samples: ['a', 'b'] },
    { option: '--tools-override', type: 'string' },
    { option: '--webhook-config', type: 'string[]', samples: ['a', 'b'], more: ['run.option.webhook-config-merged'] },
  ],
  'audit and authorization': [
    { option: '--enable-audit', type: 'bool', default: 'false' },
    { option: '--audit-config', type: 'string' },
    { option: '--authz-config', type: 'string' },
  ],
  'incoming authentication': [
    { option: '--oidc-issuer', type: 'string' },
    { option: '--oidc-audience', type: 'string' },
    { option: '--oidc-client-id', type: 'string' },
    { option: '--oidc-client-secret', type: 'string' },
    { option: '--oidc-introspection-url', type: 'string' },
    { option: '--oidc-jwks-url', type: 'string' },
    { option: '--oidc-scopes', type: 'strings', default: 'openid', more: ['run.option.oidc-scopes-default'] },
    { option: '--oidc-insecure-allow-http', type: 'bool', default: 'false' },
    { option: '--jwks-allow-private-ip', type: 'bool', default: 'false' },
    { option: '--jwks-auth-token-file', type: 'string' },
    { option: '--resource-url', type: 'string' },
    { option: '--tool-ca-bundle', type: 'string' },
  ],
  'remote server authentication': [
    { option: '--remote-auth', type: 'bool', default: 'false' },
    { option: '--remote-auth-issuer', type: 'string' },
    { option: '--remote-auth-authorize-url', type: 'string' },
    { option: '--remote-auth-token-url', type: 'string' },
    { option: '--remote-auth-client-id', type: 'string' },
    { option: '--remote-auth-client-secret', type: 'string' },
    { option: '--remote-auth-client-secret-file', type: 'string' },
    { option: '--remote-auth-bearer-token', type: 'string' },
    { option: '--remote-auth-bearer-token-file', type: 'string' },
    { option: '--remote-auth-callback-port', type: 'int', default: '8666' },
    { option: '--remote-auth-resource', type: 'string' },
    { option: '--remote-auth-scope-param-name', type: 'string' },
    { option: '--remote-auth-scopes', type: 'strings', default: 'openid,profile,email' },
    { option: '--remote-auth-skip-browser', type: 'bool', default: 'false' },
    { option: '--remote-auth-timeout', type: 'duration', default: '30s' },
    { option: '--remote-forward-headers', type: 'string[]', samples: ['A=1', 'B=2'] },
    { option: '--remote-forward-headers-secret', type: 'string[]', samples: ['A=one', 'B=two'] },
  ],
  'token exchange': [
    { option: '--token-exchange-url', type: 'string' },
    { option: '--token-exchange-audience', type: 'string' },
    { option: '--token-exchange-client-id', type: 'string' },
    { option: '--token-exchange-client-secret', type: 'string' },
    { option: '--token-exchange-client-secret-file', type: 'string' },
    { option: '--token-exchange-header-name', type: 'string' },
    { option: '--token-exchange-scopes', type: 'strings' },
    { option: '--token-exchange-subject-token-type', type: 'string', default: 'access_token' },
  ],
  telemetry: [
    { option: '--otel-endpoint', type: 'string' },
    { option: '--otel-headers', type: 'string[]', samples: ['a=1', 'b=2'] },
    { option: '--otel-insecure', type: 'bool', default: 'false' },
    { option: '--otel-service-name', type: 'string' },
    { option: '--otel-sampling-rate', type: 'float', default: '0.1', more: ['run.option.otel-sampling-rate-range'] },
    { option: '--otel-tracing-enabled', type: 'bool', default: 'true' },
    { option: '--otel-metrics-enabled', type: 'bool', default: 'true' },
    { option: '--otel-enable-prometheus-metrics-path', type: 'bool', default: 'false' },
    { option: '--otel-custom-attributes', type: 'string' },
    { option: '--otel-env-vars', type: 'string[]', samples: ['A', 'B'] },
    { option: '--otel-use-legacy-attributes', type: 'bool', default: 'true' },
  ],
};

/** What the run configuration has for options whose default commander does not know, with the flags beside which they count. */
export const CONFIGURED_DEFAULTS: Readonly<
  Record<string, { readonly beside: readonly string[]; readonly at: string; readonly value: unknown }>
> = {
  ...Object.fromEntries(
    [
      ['--otel-sampling-rate', 'samplingRate', '0.1'] as const,
      ['--otel-tracing-enabled', 'tracingEnabled', true] as const,
      ['--otel-metrics-enabled', 'metricsEnabled', true] as const,
      ['--otel-use-legacy-attributes', 'useLegacyAttributes', true] as const,
    ].map(([option, name, value]) => [
      option,
      { beside: ['--otel-endpoint', 'https://collector.example'], at: `telemetry_config.${name}`, value },
    ]),
  ),
};
