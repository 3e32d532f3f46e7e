import type { RunConfig } from '@toolmgr/plugins/kit/workloads';
import { flagOf, type RunFlags } from '../fields/options.ts';
import { REMOTE_AUTH_OPTIONS } from '../fields/remote-auth-options.ts';
import type { RunOption } from '../fields/run-option.ts';

type Kind = 'url' | 'command' | 'image' | 'package';

/** A flag that would have no effect in a situation, and why. */
interface Rule {
  readonly flags: readonly (keyof RunFlags)[];
  readonly when: (kind: Kind, transport: RunConfig['transport'], flags: RunFlags) => boolean;
  readonly because: string;
}

const isUrl: Rule['when'] = (kind) => kind === 'url';
const isLocal: Rule['when'] = (kind) => kind !== 'url';
const isImage: Rule['when'] = (kind) => kind === 'image' || kind === 'package';
const isNoImage: Rule['when'] = (kind) => kind !== 'image' && kind !== 'package';
const isStdio: Rule['when'] = (kind, transport) => kind !== 'url' && transport === 'stdio';

/** Flags of a login at a remote server. */
const LOGIN_FLAGS = Object.values<readonly RunOption[]>(REMOTE_AUTH_OPTIONS)
  .flat()
  .filter(({ stored = '' }) => /^remote_auth_config\.(?!bearer_)/.test(stored))
  .map(flagOf);

/** A setting that would have no effect is refused instead of ignored. The first rule that applies is reported. */
const RULES: readonly Rule[] = [
  { flags: ['envFile', 'envFileDir', 'secret'], when: isUrl, because: 'is for programs: a URL has no environment' },
  { flags: ['runtime'], when: isUrl, because: 'is for programs: nothing is started for a URL' },
  { flags: ['targetPort'], when: isUrl, because: 'is for programs: a URL has its own port' },
  { flags: ['targetHost'], when: isUrl, because: 'is for programs: a URL has its own host' },
  {
    flags: [
      ...(['label', 'network', 'publish', 'volume', 'permissionProfile', 'imageVerification'] as const),
      ...(['allowDockerGateway', 'ignoreGlobally', 'printResolvedOverlays'] as const),
      ...(['memory', 'cpus', 'pidsLimit', 'readOnly'] as const),
    ],
    when: isNoImage,
    because: 'is for containers: images, and packages where a container engine answers',
  },
  {
    flags: ['runtimeImage', 'runtimeAddPackage', 'buildWith', 'caCert'],
    when: (kind) => kind !== 'package',
    because: 'is for packages (uvx://, npx://, go://) in containers',
  },
  {
    flags: ['isolateNetwork'],
    when: (kind, transport, flags) => isNoImage(kind, transport, flags) && flags.isolateNetwork === true,
    because: 'is for container images: a program or URL cannot be isolated',
  },
  { flags: ['targetHost'], when: isImage, because: 'is for programs: a container is reached at 127.0.0.1' },
  { flags: ['startTimeout'], when: isImage, because: 'is for programs' },
  { flags: ['startTimeout'], when: isUrl, because: 'is for programs: nothing is started for a URL' },
  {
    flags: ['targetPort'],
    when: isStdio,
    because: 'needs --transport streamable-http or sse: a stdio program has no port',
  },
  {
    flags: ['targetHost'],
    when: isStdio,
    because: 'needs --transport streamable-http or sse: a stdio program has no address',
  },
  {
    flags: ['sessions'],
    when: (kind, transport) => !isStdio(kind, transport, {} as RunFlags),
    because: 'needs a stdio server: one with an HTTP transport has sessions of its own',
  },
  {
    flags: ['stateless'],
    when: (_kind, transport) => transport !== 'streamable-http',
    because: 'needs --transport streamable-http: only its servers can be stateless',
  },
  {
    flags: ['proxyMode'],
    when: (_kind, transport, { proxyMode }) => proxyMode === 'sse' && transport === 'streamable-http',
    because: 'sse is for stdio servers: clients of a streamable-http server use streamable HTTP',
  },
  {
    flags: ['endpointPrefix', 'trustProxyHeaders'],
    when: (_kind, transport, { proxyMode }) => transport !== 'sse' && proxyMode !== 'sse',
    because: 'needs --transport sse or --proxy-mode sse: only SSE clients are told a URL',
  },
  {
    flags: [
      'remoteForwardHeaders',
      'remoteForwardHeadersSecret',
      'remoteAuthBearerToken',
      'remoteAuthBearerTokenFile',
      ...LOGIN_FLAGS,
    ],
    when: isLocal,
    because: 'is for URLs: requests to a program or container carry no such header',
  },
  {
    flags: ['tokenExchangeUrl'],
    when: isStdio,
    because: 'needs a server with an HTTP transport: a stdio program takes no headers',
  },
  {
    flags: ['auditConfig'],
    when: (_kind, _transport, { enableAudit }) => enableAudit === true,
    because: 'has its own settings: leave out --enable-audit',
  },
  {
    flags: ['remoteAuthBearerTokenFile'],
    when: (_kind, _transport, { remoteAuthBearerToken }) => remoteAuthBearerToken !== undefined,
    because: 'and --remote-auth-bearer-token exclude each other',
  },
  {
    flags: [...LOGIN_FLAGS],
    when: (_kind, _transport, flags) =>
      flags.remoteAuthBearerToken !== undefined || flags.remoteAuthBearerTokenFile !== undefined,
    because: 'has no effect beside a bearer token',
  },
  {
    flags: [...LOGIN_FLAGS],
    when: (_kind, _transport, { tokenExchangeUrl }) => tokenExchangeUrl !== undefined,
    because: 'has no effect beside --token-exchange-url: the server gets the exchanged token',
  },
  {
    flags: [...LOGIN_FLAGS],
    when: (_kind, _transport, { remoteForwardHeaders = {} }) =>
      Object.keys(remoteForwardHeaders).some((name) => name.toLowerCase() === 'authorization'),
    because: 'has no effect beside --remote-forward-headers Authorization',
  },
  {
    flags: ['remoteAuthAuthorizeUrl', 'remoteAuthTokenUrl'],
    when: (_kind, _transport, { remoteAuthIssuer }) => remoteAuthIssuer !== undefined,
    because: 'and --remote-auth-issuer exclude each other',
  },
  {
    flags: ['remoteAuthAuthorizeUrl'],
    when: (_kind, _transport, { remoteAuthTokenUrl }) => remoteAuthTokenUrl === undefined,
    because: 'needs --remote-auth-token-url',
  },
  {
    flags: ['remoteAuthTokenUrl'],
    when: (_kind, _transport, { remoteAuthAuthorizeUrl }) => remoteAuthAuthorizeUrl === undefined,
    because: 'needs --remote-auth-authorize-url',
  },
  {
    flags: ['remoteAuthAuthorizeUrl'],
    when: (_kind, _transport, { remoteAuthClientId }) => remoteAuthClientId === undefined,
    because: 'needs --remote-auth-client-id: only metadata says where a client is registered',
  },
  {
    flags: ['remoteAuthClientSecret', 'remoteAuthClientSecretFile'],
    when: (_kind, _transport, { remoteAuthClientId }) => remoteAuthClientId === undefined,
    because: 'needs --remote-auth-client-id',
  },
  {
    flags: ['remoteAuthClientSecretFile'],
    when: (_kind, _transport, { remoteAuthClientSecret }) => remoteAuthClientSecret !== undefined,
    because: 'and --remote-auth-client-secret exclude each other',
  },
  {
    flags: ['tokenExchangeClientSecretFile'],
    when: (_kind, _transport, { tokenExchangeClientSecret }) => tokenExchangeClientSecret !== undefined,
    because: 'and --token-exchange-client-secret exclude each other',
  },
  {
    flags: [
      ...(['tokenExchangeAudience', 'tokenExchangeClientId', 'tokenExchangeClientSecret'] as const),
      ...(['tokenExchangeClientSecretFile', 'tokenExchangeHeaderName', 'tokenExchangeScopes'] as const),
      'tokenExchangeSubjectTokenType',
    ],
    when: (_kind, _transport, { tokenExchangeUrl }) => tokenExchangeUrl === undefined,
    because: 'needs --token-exchange-url',
  },
  {
    flags: ['tokenExchangeUrl'],
    when: (_kind, _transport, { oidcIssuer }) => oidcIssuer === undefined,
    because: 'needs --oidc-issuer: without it no caller has a token to exchange',
  },
  {
    flags: ['oidcAudience'],
    when: (_kind, _transport, { oidcIssuer }) => oidcIssuer === undefined,
    because: 'needs --oidc-issuer',
  },
  {
    flags: [
      ...(['oidcClientId', 'oidcClientSecret', 'oidcIntrospectionUrl', 'oidcJwksUrl', 'oidcScopes'] as const),
      ...(['oidcInsecureAllowHttp', 'jwksAllowPrivateIp', 'jwksAuthTokenFile', 'resourceUrl'] as const),
      'toolCaBundle',
    ],
    when: (_kind, _transport, { oidcIssuer }) => oidcIssuer === undefined,
    because: 'needs --oidc-issuer, which turns the checking of callers on',
  },
  {
    flags: ['oidcIssuer'],
    when: (_kind, _transport, { oidcAudience }) => oidcAudience === undefined,
    because: 'needs --oidc-audience: without it a token for any other service would be taken',
  },
  {
    flags: ['oidcClientId', 'oidcClientSecret'],
    when: (_kind, _transport, { oidcIntrospectionUrl }) => oidcIntrospectionUrl === undefined,
    because: 'is only used with --oidc-introspection-url',
  },
  {
    flags: ['oidcIntrospectionUrl'],
    when: (_kind, _transport, { oidcClientId }) => oidcClientId === undefined,
    because: 'needs --oidc-client-id',
  },
  {
    flags: [
      ...(['otelHeaders', 'otelInsecure', 'otelSamplingRate', 'otelTracingEnabled', 'otelMetricsEnabled'] as const),
      ...(['otelEnvVars', 'otelUseLegacyAttributes'] as const),
    ],
    when: (_kind, _transport, { otelEndpoint }) => otelEndpoint === undefined,
    because: 'needs --otel-endpoint',
  },
  {
    flags: ['otelServiceName', 'otelCustomAttributes'],
    when: (_kind, _transport, flags) =>
      flags.otelEndpoint === undefined && flags.otelEnablePrometheusMetricsPath !== true,
    because: 'needs --otel-endpoint or --otel-enable-prometheus-metrics-path',
  },
];

/** Why the flags cannot be meant so; `undefined` when they can. */
export function findContradiction(
  kind: Kind,
  transport: RunConfig['transport'],
  args: readonly string[],
  flags: RunFlags,
): string | undefined {
  if (kind === 'url' && transport === 'stdio') return 'a URL has the transport streamable-http or sse, not stdio';
  if (kind === 'url' && args.length > 0) return 'a URL takes no arguments after --: they are for programs';
  if (kind === 'url' && Object.keys(flags.env).length > 0) return '--env is for programs: a URL has no environment';
  for (const { flags: names, when, because } of RULES) {
    const given = names.find((name) => flags[name] !== undefined);
    if (given !== undefined && when(kind, transport, flags)) return `${longName(given)} ${because}`;
  }
  return undefined;
}

function longName(key: string): string {
  return `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
