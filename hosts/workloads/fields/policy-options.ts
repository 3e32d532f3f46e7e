import { z } from 'zod';
import { secretName } from './body-values.ts';
import { readBoolean, readList, readPair, readPairs, readRate, readRepeated } from './option-values.ts';
import type { RunOption } from './run-option.ts';

/** Options of audit, authorization, callers, token exchange and telemetry, by help group. */
export const POLICY_OPTIONS = {
  'Audit and authorization:': [
    { flags: '--enable-audit', description: 'write an audit line for every request, with the default settings' },
    { flags: '--audit-config <FILE>', description: 'audit with the settings of this JSON file' },
    {
      flags: '--authz-config <FILE>',
      description: 'decide by the Cedar policies of this JSON or YAML file',
      stored: 'authz_config_path',
      as: 'own',
      body: {
        name: 'authz_config',
        says: 'absolute path of an authorization file',
        shows: z.string().describe('path of the authorization file'),
        own: true,
      },
    },
    {
      flags: '--webhook-config <FILE>',
      description: 'ask the webhooks of this JSON or YAML file about calls; may be repeated, the files are merged',
      read: readRepeated,
    },
  ],
  'Callers (OIDC):': [
    {
      flags: '--oidc-issuer <URL>',
      stored: 'oidc_config.issuer',
      description: 'take only callers with a token of this issuer',
      body: { name: 'oidc.issuer', says: 'issuer of the tokens of callers' },
    },
    {
      flags: '--oidc-audience <NAME>',
      stored: 'oidc_config.audience',
      description: 'audience that a token must have',
      body: { name: 'oidc.audience', says: 'audience that tokens must have' },
    },
    {
      flags: '--oidc-client-id <ID>',
      stored: 'oidc_config.clientID',
      description: 'client ID for introspection',
      body: { name: 'oidc.client_id', says: 'client for introspection' },
    },
    {
      flags: '--oidc-client-secret <SECRET>',
      stored: 'oidc_config.clientSecret',
      as: 'secret',
      description: 'client secret for introspection',
      body: {
        name: 'oidc.client_secret',
        says: 'name of the stored secret of that client',
        accepts: secretName,
        shows: z.string().describe('name of the stored secret'),
      },
    },
    {
      flags: '--oidc-introspection-url <URL>',
      stored: 'oidc_config.introspectionURL',
      description: 'introspection endpoint, for opaque tokens',
      body: { name: 'oidc.introspection_url' },
    },
    {
      flags: '--oidc-jwks-url <URL>',
      stored: 'oidc_config.jwksurl',
      description: 'address of the keys (default: from the discovery of the issuer)',
      body: { name: 'oidc.jwks_url', says: 'keys of the issuer' },
    },
    {
      flags: '--oidc-scopes <LIST>',
      stored: 'oidc_config.scopes',
      absent: ['openid'],
      description: 'scopes named to clients, comma-separated (default: openid)',
      read: readList,
      body: { name: 'oidc.scopes', says: 'scopes that the endpoint announces' },
    },
    {
      flags: '--oidc-insecure-allow-http',
      stored: 'oidc_config.insecureAllowHTTP',
      description: 'allow http URLs of the issuer, for development',
    },
    {
      flags: '--jwks-allow-private-ip',
      stored: 'oidc_config.allowPrivateIP',
      description: 'allow private addresses of the issuer',
    },
    {
      flags: '--jwks-auth-token-file <FILE>',
      stored: 'oidc_config.authTokenFile',
      as: 'path',
      description: 'bearer token for requests of keys and discovery',
    },
    {
      flags: '--resource-url <URL>',
      stored: 'oidc_config.resourceURL',
      description: 'URL of this endpoint for clients (default: the audience, if a URL)',
    },
    {
      flags: '--tool-ca-bundle <FILE>',
      stored: 'oidc_config.cacertPath',
      as: 'path',
      description: 'PEM file with the CAs to trust in requests to the issuer',
    },
  ],
  'Token exchange:': [
    {
      flags: '--token-exchange-url <URL>',
      stored: 'token_exchange_config.token_url',
      description: 'token endpoint; exchanges the token of each caller',
    },
    {
      flags: '--token-exchange-audience <NAME>',
      stored: 'token_exchange_config.audience',
      description: 'audience of the new token',
    },
    {
      flags: '--token-exchange-client-id <ID>',
      stored: 'token_exchange_config.client_id',
      description: 'client ID at the token endpoint',
    },
    {
      flags: '--token-exchange-client-secret <SECRET>',
      stored: 'token_exchange_config.client_secret',
      as: 'secret',
      description: 'client secret at the token endpoint',
    },
    { flags: '--token-exchange-client-secret-file <FILE>', description: 'file with the client secret' },
    {
      flags: '--token-exchange-header-name <NAME>',
      stored: 'token_exchange_config.external_token_header_name',
      description: 'header for the new token (default: it replaces Authorization)',
    },
    {
      flags: '--token-exchange-scopes <LIST>',
      stored: 'token_exchange_config.scopes',
      description: 'scopes of the new token, comma-separated',
      read: readList,
    },
    {
      flags: '--token-exchange-subject-token-type <TYPE>',
      stored: 'token_exchange_config.subject_token_type',
      absent: 'access_token',
      description: 'type of the token of the caller: access_token (default) or id_token',
      choices: ['access_token', 'id_token'],
    },
  ],
  'Telemetry:': [
    {
      flags: '--otel-endpoint <URL>',
      stored: 'telemetry_config.endpoint',
      description: 'OTLP endpoint for traces and metrics',
    },
    {
      flags: '--otel-headers <KEY=VALUE>',
      stored: 'telemetry_config.headers',
      as: 'secret',
      description: 'header for the endpoint; may be repeated',
      read: readPair,
    },
    {
      flags: '--otel-insecure',
      stored: 'telemetry_config.insecure',
      description: 'use http for an endpoint without a scheme',
    },
    {
      flags: '--otel-service-name <NAME>',
      stored: 'telemetry_config.serviceName',
      absent: (_flags, name) => `toolmgr-${name}`,
      description: 'service name (default: toolmgr- and the name of the workload)',
    },
    {
      flags: '--otel-sampling-rate <RATE>',
      stored: 'telemetry_config.samplingRate',
      absent: '0.1',
      description: 'share of traces that are kept, 0.0 to 1.0 (default: 0.1)',
      read: readRate,
    },
    {
      flags: '--otel-tracing-enabled [BOOLEAN]',
      stored: 'telemetry_config.tracingEnabled',
      absent: ({ otelEndpoint }) => otelEndpoint !== undefined,
      description: 'send traces to the endpoint (default: true)',
      read: readBoolean,
    },
    {
      flags: '--otel-metrics-enabled [BOOLEAN]',
      stored: 'telemetry_config.metricsEnabled',
      absent: ({ otelEndpoint }) => otelEndpoint !== undefined,
      description: 'send metrics to the endpoint (default: true)',
      read: readBoolean,
    },
    {
      flags: '--otel-enable-prometheus-metrics-path',
      stored: 'telemetry_config.enablePrometheusMetricsPath',
      absent: false,
      description: 'serve /metrics at the port of the endpoint',
    },
    {
      flags: '--otel-custom-attributes <LIST>',
      stored: 'telemetry_config.customAttributes',
      description: 'resource attributes, comma-separated key=value',
      read: readPairs,
    },
    {
      flags: '--otel-env-vars <LIST>',
      stored: 'telemetry_config.environmentVariables',
      description: 'variables that spans name, comma-separated; may be repeated',
      read: readList,
    },
    {
      flags: '--otel-use-legacy-attributes [BOOLEAN]',
      stored: 'telemetry_config.useLegacyAttributes',
      absent: true,
      description: 'also write the old attribute names (default: true)',
      read: readBoolean,
    },
  ],
} as const satisfies Readonly<Record<string, readonly RunOption[]>>;
