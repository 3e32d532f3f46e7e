import { fieldRules, type RunConfig, servesSse } from '@toolmgr/plugins/kit/workloads';
import { flagOf, RUN_OPTIONS, type RunFlags } from '../fields/options.ts';
import type { RunOption } from '../fields/run-option.ts';

/** What decides whether flags have an effect. */
interface Situation {
  readonly kind: 'url' | 'command' | 'image' | 'package';
  readonly transport: RunConfig['transport'];
  readonly flags: RunFlags;
}

type Flag = keyof RunFlags;

const isUrl = ({ kind }: Situation): boolean => kind === 'url';
const isLocal = ({ kind }: Situation): boolean => kind !== 'url';
const isImage = ({ kind }: Situation): boolean => kind === 'image' || kind === 'package';
const isNoImage = (situation: Situation): boolean => !isImage(situation);
const isStdio = ({ kind, transport }: Situation): boolean => kind !== 'url' && transport === 'stdio';

const { needs, excludes, find } = fieldRules<Flag, Situation>(({ flags }, flag) => flags[flag], longName);

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
const RULES: Parameters<typeof find>[0] = [
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
    ({ kind }) => kind !== 'package',
    'is for packages (uvx://, npx://, go://) in containers',
  ],
  [
    ['isolateNetwork'],
    (situation) => isNoImage(situation) && situation.flags.isolateNetwork === true,
    'is for container images: a program or URL cannot be isolated',
  ],
  [['targetHost'], isImage, 'is for programs: a container is reached at 127.0.0.1'],
  [['startTimeout'], isImage, 'is for programs'],
  [['startTimeout'], isUrl, 'is for programs: nothing is started for a URL'],
  [['targetPort'], isStdio, 'needs --transport streamable-http or sse: a stdio program has no port'],
  [['targetHost'], isStdio, 'needs --transport streamable-http or sse: a stdio program has no address'],
  [
    ['sessions'],
    (situation) => !isStdio(situation),
    'needs a stdio server: one with an HTTP transport has sessions of its own',
  ],
  [
    ['stateless'],
    ({ transport }) => transport !== 'streamable-http',
    'needs --transport streamable-http: only its servers can be stateless',
  ],
  [
    ['proxyMode'],
    ({ transport, flags }) => flags.proxyMode === 'sse' && transport === 'streamable-http',
    'sse is for stdio servers: clients of a streamable-http server use streamable HTTP',
  ],
  [
    ['endpointPrefix', 'trustProxyHeaders'],
    ({ transport, flags }) => !servesSse({ transport, proxy_mode: flags.proxyMode }),
    'needs --transport sse or --proxy-mode sse: only SSE clients are told a URL',
  ],
  [of('Remote server:'), isLocal, 'is for URLs: requests to a program or container carry no such header'],
  [['tokenExchangeUrl'], isStdio, 'needs a server with an HTTP transport: a stdio program takes no headers'],
  [['auditConfig'], ({ flags }) => flags.enableAudit === true, 'has its own settings: leave out --enable-audit'],
  excludes(['remoteAuthBearerTokenFile'], 'remoteAuthBearerToken'),
  excludes(LOGIN_FLAGS, 'remoteAuthBearerToken', 'has no effect beside a bearer token'),
  excludes(LOGIN_FLAGS, 'remoteAuthBearerTokenFile', 'has no effect beside a bearer token'),
  excludes(
    LOGIN_FLAGS,
    'tokenExchangeUrl',
    'has no effect beside --token-exchange-url: the server gets the exchanged token',
  ),
  [
    LOGIN_FLAGS,
    ({ flags: { remoteForwardHeaders = {} } }) =>
      Object.keys(remoteForwardHeaders).some((name) => name.toLowerCase() === 'authorization'),
    'has no effect beside --remote-forward-headers Authorization',
  ],
  excludes(['remoteAuthAuthorizeUrl', 'remoteAuthTokenUrl'], 'remoteAuthIssuer'),
  needs(['remoteAuthAuthorizeUrl'], 'remoteAuthTokenUrl'),
  needs(['remoteAuthTokenUrl'], 'remoteAuthAuthorizeUrl'),
  needs(['remoteAuthAuthorizeUrl'], 'remoteAuthClientId', ': only metadata says where a client is registered'),
  needs(['remoteAuthClientSecret', 'remoteAuthClientSecretFile'], 'remoteAuthClientId'),
  excludes(['remoteAuthClientSecretFile'], 'remoteAuthClientSecret'),
  excludes(['tokenExchangeClientSecretFile'], 'tokenExchangeClientSecret'),
  needs(of('Token exchange:', 'tokenExchangeUrl'), 'tokenExchangeUrl'),
  needs(['tokenExchangeUrl'], 'oidcIssuer', ': without it no caller has a token to exchange'),
  needs(['oidcAudience'], 'oidcIssuer'),
  needs(of('Callers (OIDC):'), 'oidcIssuer', ', which turns the checking of callers on'),
  needs(['oidcIssuer'], 'oidcAudience', ': without it a token for any other service would be taken'),
  [
    ['oidcClientId', 'oidcClientSecret'],
    ({ flags }) => flags.oidcIntrospectionUrl === undefined,
    'is only used with --oidc-introspection-url',
  ],
  needs(['oidcIntrospectionUrl'], 'oidcClientId'),
  needs(of('Telemetry:', 'otelServiceName', 'otelCustomAttributes', 'otelEnablePrometheusMetricsPath'), 'otelEndpoint'),
  [
    ['otelServiceName', 'otelCustomAttributes'],
    ({ flags }) => flags.otelEndpoint === undefined && flags.otelEnablePrometheusMetricsPath !== true,
    'needs --otel-endpoint or --otel-enable-prometheus-metrics-path',
  ],
];

/** Why the flags cannot be meant so; `undefined` when they can. */
export function findContradiction(situation: Situation, args: readonly string[]): string | undefined {
  if (isUrl(situation)) {
    const { transport, flags } = situation;
    if (transport === 'stdio') return 'a URL has the transport streamable-http or sse, not stdio';
    if (args.length > 0) return 'a URL takes no arguments after --: they are for programs';
    if (Object.keys(flags.env).length > 0) return '--env is for programs: a URL has no environment';
  }
  const found = find(RULES, situation);
  return found && `${longName(found.name)} ${found.because}`;
}

function longName(flag: string): string {
  return `--${flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
