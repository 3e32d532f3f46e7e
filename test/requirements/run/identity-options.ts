import type { Section } from '../section.ts';

/** Options of the run command about identities, tokens and telemetry. */
export const identityOptions = [
  {
    source: 'run spec §4 incoming authentication',
    says: {
      'run.option.oidc-issuer': '--oidc-issuer is the issuer URL',
      'run.option.oidc-audience': '--oidc-audience is the audience a token must have',
      'run.option.oidc-client-id': '--oidc-client-id is the client ID',
      'run.option.oidc-client-secret': '--oidc-client-secret is optional and used for introspection',
      'run.option.oidc-introspection-url': '--oidc-introspection-url is the introspection endpoint',
      'run.option.oidc-jwks-url': '--oidc-jwks-url is the JWKS URL',
      'run.option.oidc-scopes': '--oidc-scopes are advertised in the RFC 9728 document',
      'run.option.oidc-scopes-default': '--oidc-scopes is openid by default',
      'run.option.oidc-insecure-allow-http':
        '--oidc-insecure-allow-http is a boolean, false by default, and allows HTTP issuers',
      'run.option.jwks-allow-private-ip':
        '--jwks-allow-private-ip is a boolean, false by default, and allows JWKS and OIDC endpoints on private addresses',
      'run.option.jwks-auth-token-file': '--jwks-auth-token-file holds the bearer token of JWKS and OIDC requests',
      'run.option.resource-url': '--resource-url is the explicit resource URL of OAuth discovery',
      'run.option.tool-ca-bundle': '--tool-ca-bundle is the CA bundle of the HTTP operations of the tool itself',
    },
  },
  {
    source: 'run spec §4 remote server authentication',
    says: {
      'run.option.remote-auth':
        '--remote-auth is a boolean, false by default, and turns on OAuth or OIDC to the remote server',
      'run.option.remote-auth-issuer': '--remote-auth-issuer is the issuer URL',
      'run.option.remote-auth-authorize-url': '--remote-auth-authorize-url replaces the issuer for OAuth without OIDC',
      'run.option.remote-auth-token-url': '--remote-auth-token-url replaces the issuer',
      'run.option.remote-auth-client-id': '--remote-auth-client-id is optional when dynamic registration is supported',
      'run.option.remote-auth-client-secret':
        '--remote-auth-client-secret is optional with dynamic registration or PKCE',
      'run.option.remote-auth-client-secret-file': '--remote-auth-client-secret-file holds the client secret',
      'run.option.remote-auth-callback-port': '--remote-auth-callback-port is an integer, 8666 by default',
      'run.option.remote-auth-resource': '--remote-auth-resource is the RFC 8707 resource indicator',
      'run.option.remote-auth-scope-param-name':
        '--remote-auth-scope-param-name renames the scope parameter of the authorization URL',
      'run.option.remote-auth-scopes': '--remote-auth-scopes is openid,profile,email by default for OIDC',
      'run.option.remote-auth-skip-browser':
        '--remote-auth-skip-browser is a boolean, false by default, and opens no browser',
      'run.option.remote-auth-timeout': '--remote-auth-timeout is a duration, 30s by default',
      'run.option.remote-forward-headers-secret':
        '--remote-forward-headers-secret is repeatable and takes the value from the secrets provider by Name=secret-name',
      'run.option.remote-auth-bearer-token': '--remote-auth-bearer-token is sent instead of OAuth',
      'run.option.remote-auth-bearer-token-file': '--remote-auth-bearer-token-file holds the bearer token',
      'run.option.remote-forward-headers':
        '--remote-forward-headers is repeatable and injects Name=Value into requests to the remote server',
    },
  },
  {
    source: 'run spec §4 token exchange',
    says: {
      'run.option.token-exchange-url': '--token-exchange-url is the endpoint, and giving it turns token exchange on',
      'run.option.token-exchange-audience': '--token-exchange-audience is the target audience',
      'run.option.token-exchange-client-id': '--token-exchange-client-id is the client ID',
      'run.option.token-exchange-client-secret': '--token-exchange-client-secret is the client secret',
      'run.option.token-exchange-client-secret-file': '--token-exchange-client-secret-file holds the client secret',
      'run.option.token-exchange-header-name':
        '--token-exchange-header-name carries the exchanged token, and Authorization is replaced without it',
      'run.option.token-exchange-scopes': '--token-exchange-scopes are the requested scopes',
      'run.option.token-exchange-subject-token-type':
        '--token-exchange-subject-token-type takes access_token or id_token, access_token by default',
    },
  },
  {
    source: 'run spec §4 telemetry',
    says: {
      'run.option.otel-endpoint': '--otel-endpoint is the OTLP endpoint URL',
      'run.option.otel-headers': '--otel-headers is repeatable and takes key=value',
      'run.option.otel-insecure': '--otel-insecure is a boolean, false by default, and uses HTTP',
      'run.option.otel-service-name': '--otel-service-name is a fixed prefix plus the workload name by default',
      'run.option.otel-sampling-rate': '--otel-sampling-rate is a float, 0.1 by default',
      'run.option.otel-sampling-rate-range': '--otel-sampling-rate lies within 0.0 and 1.0',
      'run.option.otel-tracing-enabled':
        '--otel-tracing-enabled is a boolean, true by default, and counts only with an endpoint',
      'run.option.otel-metrics-enabled':
        '--otel-metrics-enabled is a boolean, true by default, and counts only with an endpoint',
      'run.option.otel-enable-prometheus-metrics-path':
        '--otel-enable-prometheus-metrics-path is a boolean, false by default, and serves /metrics on the main transport port',
      'run.option.otel-custom-attributes':
        '--otel-custom-attributes takes comma-separated key=value resource attributes',
      'run.option.otel-env-vars': '--otel-env-vars takes comma-separated names of environment variables for spans',
      'run.option.otel-use-legacy-attributes':
        '--otel-use-legacy-attributes is a boolean, true by default, and adds the old attribute names',
    },
  },
  {
    source: 'run spec §5 authentication',
    says: {
      'run.authentication.three-kinds':
        'the command configures caller authentication, authentication to a remote server and token exchange',
    },
  },
] as const satisfies readonly Section[];
