import type { RunConfig } from '@toolmgr/plugins/kit/workloads';
import { flagOf, RUN_OPTIONS, type RunFlags } from '../fields/options.ts';
import type { RunOption } from '../fields/run-option.ts';

type Kind = 'url' | 'command' | 'image' | 'package';

type Flag = keyof RunFlags;

type When = (kind: Kind, transport: RunConfig['transport'], flags: RunFlags) => boolean;

/** Flags that would have no effect in a situation, and why. */
type Rule = readonly [flags: readonly Flag[], when: When, because: string];

const isUrl: When = (kind) => kind === 'url';
const isLocal: When = (kind) => kind !== 'url';
const isImage: When = (kind) => kind === 'image' || kind === 'package';
const isNoImage: When = (kind) => kind !== 'image' && kind !== 'package';
const isStdio: When = (kind, transport) => kind !== 'url' && transport === 'stdio';
const beside =
  (flag: Flag): When =>
  (_kind, _transport, flags) =>
    flags[flag] !== undefined;
const without =
  (flag: Flag): When =>
  (_kind, _transport, flags) =>
    flags[flag] === undefined;

/** The options of a help group. */
function of(group: keyof typeof RUN_OPTIONS, ...except: readonly Flag[]): readonly Flag[] {
  return RUN_OPTIONS[group].map((row: RunOption) => flagOf(row)).filter((flag) => !except.includes(flag));
}

/** Flags of a login at a remote server. */
const LOGIN_FLAGS = Object.values<readonly RunOption[]>(RUN_OPTIONS)
  .flat()
  .filter(({ stored = '' }) => /^remote_auth_config\.(?!bearer_)/.test(stored))
  .map(flagOf);

/** A setting that would have no effect is refused instead of ignored. The first rule that applies is reported. */
const RULES: readonly Rule[] = [
  [['envFile', 'envFileDir', 'secret'], isUrl, 'is for programs: a URL has no environment'],
  [['runtime'], isUrl, 'is for programs: nothing is started for a URL'],
  [['targetPort'], isUrl, 'is for programs: a URL has its own port'],
  [['targetHost'], isUrl, 'is for programs: a URL has its own host'],
  [
    of('Containers:', 'isolateNetwork'),
    isNoImage,
    'is for containers: images, and packages where a container engine answers',
  ],
  [
    of('Packages (uvx://, npx://, go://) in containers:'),
    (kind) => kind !== 'package',
    'is for packages (uvx://, npx://, go://) in containers',
  ],
  [
    ['isolateNetwork'],
    (kind, transport, flags) => isNoImage(kind, transport, flags) && flags.isolateNetwork === true,
    'is for container images: a program or URL cannot be isolated',
  ],
  [['targetHost'], isImage, 'is for programs: a container is reached at 127.0.0.1'],
  [['startTimeout'], isImage, 'is for programs'],
  [['startTimeout'], isUrl, 'is for programs: nothing is started for a URL'],
  [['targetPort'], isStdio, 'needs --transport streamable-http or sse: a stdio program has no port'],
  [['targetHost'], isStdio, 'needs --transport streamable-http or sse: a stdio program has no address'],
  [
    ['sessions'],
    (...given) => !isStdio(...given),
    'needs a stdio server: one with an HTTP transport has sessions of its own',
  ],
  [
    ['stateless'],
    (_kind, transport) => transport !== 'streamable-http',
    'needs --transport streamable-http: only its servers can be stateless',
  ],
  [
    ['proxyMode'],
    (_kind, transport, { proxyMode }) => proxyMode === 'sse' && transport === 'streamable-http',
    'sse is for stdio servers: clients of a streamable-http server use streamable HTTP',
  ],
  [
    ['endpointPrefix', 'trustProxyHeaders'],
    (_kind, transport, { proxyMode }) => transport !== 'sse' && proxyMode !== 'sse',
    'needs --transport sse or --proxy-mode sse: only SSE clients are told a URL',
  ],
  [of('Remote server:'), isLocal, 'is for URLs: requests to a program or container carry no such header'],
  [['tokenExchangeUrl'], isStdio, 'needs a server with an HTTP transport: a stdio program takes no headers'],
  [
    ['auditConfig'],
    (_kind, _transport, { enableAudit }) => enableAudit === true,
    'has its own settings: leave out --enable-audit',
  ],
  [['remoteAuthBearerTokenFile'], beside('remoteAuthBearerToken'), 'and --remote-auth-bearer-token exclude each other'],
  [LOGIN_FLAGS, beside('remoteAuthBearerToken'), 'has no effect beside a bearer token'],
  [LOGIN_FLAGS, beside('remoteAuthBearerTokenFile'), 'has no effect beside a bearer token'],
  [
    LOGIN_FLAGS,
    beside('tokenExchangeUrl'),
    'has no effect beside --token-exchange-url: the server gets the exchanged token',
  ],
  [
    LOGIN_FLAGS,
    (_kind, _transport, { remoteForwardHeaders = {} }) =>
      Object.keys(remoteForwardHeaders).some((name) => name.toLowerCase() === 'authorization'),
    'has no effect beside --remote-forward-headers Authorization',
  ],
  [
    ['remoteAuthAuthorizeUrl', 'remoteAuthTokenUrl'],
    beside('remoteAuthIssuer'),
    'and --remote-auth-issuer exclude each other',
  ],
  [['remoteAuthAuthorizeUrl'], without('remoteAuthTokenUrl'), 'needs --remote-auth-token-url'],
  [['remoteAuthTokenUrl'], without('remoteAuthAuthorizeUrl'), 'needs --remote-auth-authorize-url'],
  [
    ['remoteAuthAuthorizeUrl'],
    without('remoteAuthClientId'),
    'needs --remote-auth-client-id: only metadata says where a client is registered',
  ],
  [
    ['remoteAuthClientSecret', 'remoteAuthClientSecretFile'],
    without('remoteAuthClientId'),
    'needs --remote-auth-client-id',
  ],
  [
    ['remoteAuthClientSecretFile'],
    beside('remoteAuthClientSecret'),
    'and --remote-auth-client-secret exclude each other',
  ],
  [
    ['tokenExchangeClientSecretFile'],
    beside('tokenExchangeClientSecret'),
    'and --token-exchange-client-secret exclude each other',
  ],
  [of('Token exchange:', 'tokenExchangeUrl'), without('tokenExchangeUrl'), 'needs --token-exchange-url'],
  [['tokenExchangeUrl'], without('oidcIssuer'), 'needs --oidc-issuer: without it no caller has a token to exchange'],
  [['oidcAudience'], without('oidcIssuer'), 'needs --oidc-issuer'],
  [of('Callers (OIDC):'), without('oidcIssuer'), 'needs --oidc-issuer, which turns the checking of callers on'],
  [
    ['oidcIssuer'],
    without('oidcAudience'),
    'needs --oidc-audience: without it a token for any other service would be taken',
  ],
  [['oidcClientId', 'oidcClientSecret'], without('oidcIntrospectionUrl'), 'is only used with --oidc-introspection-url'],
  [['oidcIntrospectionUrl'], without('oidcClientId'), 'needs --oidc-client-id'],
  [
    of('Telemetry:', 'otelServiceName', 'otelCustomAttributes', 'otelEnablePrometheusMetricsPath'),
    without('otelEndpoint'),
    'needs --otel-endpoint',
  ],
  [
    ['otelServiceName', 'otelCustomAttributes'],
    (_kind, _transport, flags) => flags.otelEndpoint === undefined && flags.otelEnablePrometheusMetricsPath !== true,
    'needs --otel-endpoint or --otel-enable-prometheus-metrics-path',
  ],
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
  for (const [names, when, because] of RULES) {
    const given = names.find((name) => flags[name] !== undefined);
    if (given !== undefined && when(kind, transport, flags)) return `${longName(given)} ${because}`;
  }
  return undefined;
}

function longName(key: string): string {
  return `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
