import { readBoolean, readList, readPair, readPairs, readRate, readRepeated } from './option-values.ts';
import type { RunOption } from './run-option.ts';

/** Flags of audit, authorization, callers, token exchange and telemetry. */
export interface PolicyFlags {
  readonly enableAudit?: boolean;
  readonly auditConfig?: string;
  readonly authzConfig?: string;
  readonly webhookConfig?: readonly string[];
  readonly oidcIssuer?: string;
  readonly oidcAudience?: string;
  readonly oidcClientId?: string;
  readonly oidcClientSecret?: string;
  readonly oidcIntrospectionUrl?: string;
  readonly oidcJwksUrl?: string;
  readonly oidcScopes?: readonly string[];
  readonly oidcInsecureAllowHttp?: boolean;
  readonly jwksAllowPrivateIp?: boolean;
  readonly jwksAuthTokenFile?: string;
  readonly resourceUrl?: string;
  readonly toolCaBundle?: string;
  readonly tokenExchangeUrl?: string;
  readonly tokenExchangeAudience?: string;
  readonly tokenExchangeClientId?: string;
  readonly tokenExchangeClientSecret?: string;
  readonly tokenExchangeClientSecretFile?: string;
  readonly tokenExchangeHeaderName?: string;
  readonly tokenExchangeScopes?: readonly string[];
  readonly tokenExchangeSubjectTokenType?: string;
  readonly otelEndpoint?: string;
  readonly otelHeaders?: Readonly<Record<string, string>>;
  readonly otelInsecure?: boolean;
  readonly otelServiceName?: string;
  readonly otelSamplingRate?: string;
  readonly otelTracingEnabled?: boolean;
  readonly otelMetricsEnabled?: boolean;
  readonly otelEnablePrometheusMetricsPath?: boolean;
  readonly otelCustomAttributes?: Readonly<Record<string, string>>;
  readonly otelEnvVars?: readonly string[];
  readonly otelUseLegacyAttributes?: boolean;
}

/** Their options by help group. */
export const POLICY_OPTIONS: Readonly<Record<string, readonly RunOption[]>> = {
  'Audit and authorization:': [
    { flags: '--enable-audit', description: 'write an audit line for every request, with the default settings' },
    { flags: '--audit-config <FILE>', description: 'audit with the settings of this JSON file' },
    { flags: '--authz-config <FILE>', description: 'decide by the Cedar policies of this JSON or YAML file' },
    {
      flags: '--webhook-config <FILE>',
      description: 'ask the webhooks of this JSON or YAML file about calls; may be repeated, the files are merged',
      read: readRepeated,
    },
  ],
  'Callers (OIDC):': [
    { flags: '--oidc-issuer <URL>', description: 'take only callers with a token of this issuer' },
    { flags: '--oidc-audience <NAME>', description: 'audience that a token must have' },
    { flags: '--oidc-client-id <ID>', description: 'client ID for introspection' },
    { flags: '--oidc-client-secret <SECRET>', description: 'client secret for introspection' },
    { flags: '--oidc-introspection-url <URL>', description: 'introspection endpoint, for opaque tokens' },
    { flags: '--oidc-jwks-url <URL>', description: 'address of the keys (default: from the discovery of the issuer)' },
    {
      flags: '--oidc-scopes <LIST>',
      description: 'scopes named to clients, comma-separated (default: openid)',
      read: readList,
    },
    { flags: '--oidc-insecure-allow-http', description: 'allow http URLs of the issuer, for development' },
    { flags: '--jwks-allow-private-ip', description: 'allow private addresses of the issuer' },
    { flags: '--jwks-auth-token-file <FILE>', description: 'bearer token for requests of keys and discovery' },
    {
      flags: '--resource-url <URL>',
      description: 'URL of this endpoint for clients (default: the audience, if a URL)',
    },
    { flags: '--tool-ca-bundle <FILE>', description: 'PEM file with the CAs to trust in requests to the issuer' },
  ],
  'Token exchange:': [
    { flags: '--token-exchange-url <URL>', description: 'token endpoint; exchanges the token of each caller' },
    { flags: '--token-exchange-audience <NAME>', description: 'audience of the new token' },
    { flags: '--token-exchange-client-id <ID>', description: 'client ID at the token endpoint' },
    { flags: '--token-exchange-client-secret <SECRET>', description: 'client secret at the token endpoint' },
    { flags: '--token-exchange-client-secret-file <FILE>', description: 'file with the client secret' },
    {
      flags: '--token-exchange-header-name <NAME>',
      description: 'header for the new token (default: it replaces Authorization)',
    },
    {
      flags: '--token-exchange-scopes <LIST>',
      description: 'scopes of the new token, comma-separated',
      read: readList,
    },
    {
      flags: '--token-exchange-subject-token-type <TYPE>',
      description: 'type of the token of the caller: access_token (default) or id_token',
      choices: ['access_token', 'id_token'],
    },
  ],
  'Telemetry:': [
    { flags: '--otel-endpoint <URL>', description: 'OTLP endpoint for traces and metrics' },
    { flags: '--otel-headers <KEY=VALUE>', description: 'header for the endpoint; may be repeated', read: readPair },
    { flags: '--otel-insecure', description: 'use http for an endpoint without a scheme' },
    {
      flags: '--otel-service-name <NAME>',
      description: 'service name (default: toolmgr- and the name of the workload)',
    },
    {
      flags: '--otel-sampling-rate <RATE>',
      description: 'share of traces that are kept, 0.0 to 1.0 (default: 0.1)',
      read: readRate,
    },
    {
      flags: '--otel-tracing-enabled [BOOLEAN]',
      description: 'send traces to the endpoint (default: true)',
      read: readBoolean,
    },
    {
      flags: '--otel-metrics-enabled [BOOLEAN]',
      description: 'send metrics to the endpoint (default: true)',
      read: readBoolean,
    },
    { flags: '--otel-enable-prometheus-metrics-path', description: 'serve /metrics at the port of the endpoint' },
    {
      flags: '--otel-custom-attributes <LIST>',
      description: 'resource attributes, comma-separated key=value',
      read: readPairs,
    },
    {
      flags: '--otel-env-vars <LIST>',
      description: 'variables that spans name, comma-separated; may be repeated',
      read: readList,
    },
    {
      flags: '--otel-use-legacy-attributes [BOOLEAN]',
      description: 'also write the old attribute names (default: true)',
      read: readBoolean,
    },
  ],
};
