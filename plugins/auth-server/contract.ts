import type { FileFacts, PlanPart, SectionProblem } from '@toolmgr/core';
import type { ClusterReader } from '@toolmgr/plugins/kit/kubernetes';
import { z } from 'zod';

/** The members of the section that are read here, as they are written. */
interface AuthServerSection {
  readonly issuer: string;
  readonly authorizationEndpointBaseUrl?: string;
  readonly upstreamProviders: readonly WrittenUpstream[];
  readonly primaryUpstreamProvider?: string;
  readonly allowedAudiences?: readonly string[];
  readonly scopesSupported?: readonly string[];
  readonly insecureAllowHTTP?: boolean;
  readonly signingKeySecretRefs?: readonly unknown[];
  readonly hmacSecretRefs?: readonly unknown[];
  readonly disableUpstreamTokenInjection?: boolean;
  readonly connectTool?: boolean;
  readonly storage?: { readonly type?: string; readonly encryptionKeySecretRefs?: readonly unknown[] };
}

/** A provider as it is written. */
interface WrittenUpstream {
  readonly name: string;
  readonly loginPolicy?: string;
  readonly oidcConfig?: {
    readonly issuerUrl: string;
    readonly redirectUri?: string;
    readonly scopes?: readonly string[];
    readonly userInfoOverride?: WrittenUserInfo;
  };
  readonly oauth2Config?: { readonly redirectUri?: string; readonly userInfo?: WrittenUserInfo };
}

interface WrittenUserInfo {
  readonly additionalHeaders?: Readonly<Record<string, string>>;
}

/** The tool of `connect-tool.ts`, which is not loaded with the file. */
const CONNECT_TOOL = 'connect_account';

/** `authServerConfig`. The first allowed audience is the URL of the MCP endpoint, from `incomingAuth.oidc`. */
export const contract: ClusterReader = {
  schema: (config) => config.safeExtend({ allowedAudiences: optionalIn(config, 'allowedAudiences') }),
  facts({ upstreamProviders, primaryUpstreamProvider: given, connectTool = true }: AuthServerSection) {
    const upstreams = upstreamProviders.map(({ name }) => name);
    const primaryUpstream = given || upstreams[0];
    return {
      upstreams,
      ...(connectTool && upstreamProviders.some(({ loginPolicy }) => loginPolicy === 'onDemand')
        ? { ownTools: [CONNECT_TOOL] }
        : {}),
      ...(primaryUpstream === undefined ? {} : { primaryUpstream }),
      ...(given ? { givenPrimary: given } : {}),
    };
  },
  fromContract(section: AuthServerSection | undefined, facts, use): PlanPart {
    if (section === undefined) return {};
    const { allowedAudiences = [], scopesSupported = [] } = section;
    const resource = resourceOf(facts);
    const filled = {
      allowedAudiences: distinct([...(resource === undefined ? [] : [resource]), ...allowedAudiences]),
      scopesSupported: distinct([...scopesSupported, ...(facts.tokens?.scopes ?? [])]),
    };
    return { plugins: [{ use, with: { ...section, ...filled } }] };
  },
  problems: (section: AuthServerSection, facts) => [
    ...tokenProblems(section, facts),
    ...(section.disableUpstreamTokenInjection === true ? exclusiveStrategies(facts) : []),
  ],
  warnings: fileWarnings,
  overview(section: AuthServerSection | undefined) {
    const key = 'authServer';
    const label = 'auth server';
    if (section === undefined) return { key, label, value: 'none' };
    const { issuer, upstreamProviders, storage } = section;
    const providers = upstreamProviders.map(({ name, loginPolicy }) =>
      loginPolicy === 'onDemand' ? `${name} (on demand)` : name,
    );
    const text = `${issuer}, providers: ${providers.join(', ')}, storage: ${storage?.type ?? 'memory'}`;
    return { key, label, value: issuer, text };
  },
  fromCluster: () => import('./from-cluster.ts'),
};

function optionalIn(config: z.ZodObject, key: string): z.ZodType {
  const member = config.shape[key];
  return member instanceof z.ZodType ? member.optional() : z.unknown();
}

/** The tokens that this server issues must be those that the gateway accepts. */
function tokenProblems({ issuer, allowedAudiences }: AuthServerSection, facts: FileFacts): readonly SectionProblem[] {
  const { callers, tokens, hasOwnPlugins } = facts;
  if (callers === undefined && hasOwnPlugins) return [];
  if (callers !== 'token') return [{ path: [], message: 'needs incomingAuth.type: oidc, which accepts its tokens' }];
  if (tokens === undefined) return []; // incomingAuth has problems of its own
  const problems: SectionProblem[] = [];
  if (tokens.issuer !== issuer) {
    problems.push({ path: ['issuer'], message: `differs from incomingAuth.oidc.issuer (${tokens.issuer})` });
  }
  const resource = resourceOf(facts);
  if (resource === undefined) {
    const message = `expected the URL of the MCP endpoint in incomingAuth.oidc.resource; the audience (${tokens.audience}) is none`;
    return [...problems, { path: [], message }];
  }
  if (allowedAudiences === undefined && tokens.audience !== resource) {
    const message = `incomingAuth.oidc.audience (${tokens.audience}) differs from the resource (${resource}) that tokens are issued for; make them equal, or list both in allowedAudiences`;
    return [...problems, { path: [], message }];
  }
  const missing = [tokens.audience, resource].filter((wanted) => allowedAudiences?.includes(wanted) === false);
  const places = distinct(missing).map((wanted) => ({
    path: ['allowedAudiences'],
    message: `${wanted} is missing, which incomingAuth.oidc names`,
  }));
  return [...problems, ...places];
}

/** URL of the MCP endpoint; `undefined` when the file has none. */
function resourceOf({ tokens }: FileFacts): string | undefined {
  const given = tokens?.resource ?? tokens?.audience;
  return given !== undefined && /^https?:\/\//.test(given) ? given : undefined;
}

/** Source: vmcp spec §7. */
function exclusiveStrategies({ strategies }: FileFacts): readonly SectionProblem[] {
  const used = strategies.filter((type) => type === 'token_exchange' || type === 'aws_sts');
  const message = `cannot be combined with token exchange or AWS STS outgoing auth; outgoingAuth uses ${used.join(' and ')}`;
  return used.length === 0 ? [] : [{ path: ['disableUpstreamTokenInjection'], message }];
}

function distinct(given: readonly string[]): readonly string[] {
  return [...new Set(given)];
}

/** What is allowed in the section and probably a mistake. */
function fileWarnings(section: AuthServerSection, facts: FileFacts): readonly SectionProblem[] {
  return [
    ...missingKeys(section),
    ...storageWarnings(section, facts),
    ...plainHttp(section),
    ...otherHosts(section, facts),
    ...unusedStrategies(section, facts),
    ...section.upstreamProviders.flatMap((upstream, index) =>
      upstreamWarnings(upstream).map(({ path, message }) => ({ path: ['upstreamProviders', index, ...path], message })),
    ),
  ];
}

const AFTER_RESTART = 'people sign in again after a restart, and a second replica refuses what the first issued';

function missingKeys({ signingKeySecretRefs = [], hmacSecretRefs = [] }: AuthServerSection): SectionProblem[] {
  const problems: SectionProblem[] = [];
  if (signingKeySecretRefs.length === 0) {
    problems.push({
      path: [],
      message: `has no signingKeySecretRefs, so each start makes a new key: ${AFTER_RESTART}`,
    });
  }
  if (hmacSecretRefs.length === 0) {
    problems.push({ path: [], message: `has no hmacSecretRefs, so each start makes a new secret: ${AFTER_RESTART}` });
  }
  return problems;
}

function storageWarnings({ storage = {} }: AuthServerSection, { sharedStore }: FileFacts): SectionProblem[] {
  const { type = 'memory', encryptionKeySecretRefs = [] } = storage;
  const warn = (message: string): SectionProblem[] => [{ path: ['storage'], message }];
  if (type === 'memory' && sharedStore !== undefined) {
    return warn('keeps records in this process, but sessionStorage is for several replicas; use type: redis');
  }
  if (type === 'redis' && encryptionKeySecretRefs.length === 0) {
    return warn('has no encryptionKeySecretRefs, so tokens of upstream providers are readable in Redis');
  }
  return [];
}

function plainHttp({ issuer, insecureAllowHTTP }: AuthServerSection): SectionProblem[] {
  const host = URL.parse(issuer)?.hostname ?? '';
  const isLocal = host === 'localhost' || host === '[::1]' || host.startsWith('127.');
  if (!issuer.startsWith('http:') || isLocal || insecureAllowHTTP !== true) return [];
  return [{ path: ['issuer'], message: 'is plain http: codes, tokens and cookies can be read on the network' }];
}

/** Redirects of providers to another host than that of the pages. */
function otherHosts(section: AuthServerSection, facts: FileFacts): SectionProblem[] {
  const { issuer, authorizationEndpointBaseUrl: base = issuer, upstreamProviders } = section;
  const resource = resourceOf(facts);
  const isOther = (url: string | undefined): boolean =>
    url !== undefined && URL.parse(url)?.host !== URL.parse(base)?.host;
  const why = `than ${base}: the browser comes back without the cookies of the sign-in, which then fails`;
  const own = upstreamProviders.flatMap(({ oidcConfig, oauth2Config }, index): SectionProblem[] => {
    const [at, config] = oidcConfig === undefined ? ['oauth2Config', oauth2Config] : ['oidcConfig', oidcConfig];
    if (!isOther(config?.redirectUri)) return [];
    return [{ path: ['upstreamProviders', index, at, 'redirectUri'], message: `has another host ${why}` }];
  });
  const usesDefault = upstreamProviders.some(
    ({ oidcConfig, oauth2Config }) => (oidcConfig ?? oauth2Config)?.redirectUri === undefined,
  );
  if (!usesDefault || !isOther(resource)) return own;
  const message = `providers redirect to ${resource}/oauth/callback, which has another host ${why}; use one host for both`;
  return [{ path: ['issuer'], message }, ...own];
}

/** Strategies that send a credential of the caller, which this server is told not to send. */
const OF_CALLERS: ReadonlySet<string> = new Set(['upstream_inject', 'xaa', 'obo']);

function unusedStrategies({ disableUpstreamTokenInjection }: AuthServerSection, facts: FileFacts): SectionProblem[] {
  const unused = facts.strategies.filter((type) => OF_CALLERS.has(type));
  if (disableUpstreamTokenInjection !== true || unused.length === 0) return [];
  const message = `removes the credential of ${unused.join(', ')} from each request to a backend`;
  return [{ path: ['disableUpstreamTokenInjection'], message }];
}

const GOOGLE = 'https://accounts.google.com';
const STANDARD_SCOPES = ['openid', 'offline_access'];

function upstreamWarnings({ oidcConfig, oauth2Config }: WrittenUpstream): SectionProblem[] {
  const isGoogle = oidcConfig?.issuerUrl === GOOGLE;
  const scopes = oidcConfig?.scopes ?? STANDARD_SCOPES;
  const google: SectionProblem[] =
    isGoogle && scopes.includes('offline_access')
      ? [
          {
            path: ['oidcConfig'],
            message:
              'Google refuses the scope offline_access; set scopes without it, and additionalAuthorizationParams access_type: offline, prompt: consent',
          },
        ]
      : [];
  return [
    ...google,
    ...headerWarnings(['oidcConfig', 'userInfoOverride'], oidcConfig?.userInfoOverride?.additionalHeaders),
    ...headerWarnings(['oauth2Config', 'userInfo'], oauth2Config?.userInfo?.additionalHeaders),
  ];
}

const CREDENTIAL = /authorization|cookie|token|secret|api-?key/i;

function headerWarnings(at: readonly string[], headers: Readonly<Record<string, string>> = {}): SectionProblem[] {
  const message = 'looks like a credential, and everyone who reads the file can read it';
  return Object.keys(headers)
    .filter((name) => CREDENTIAL.test(name))
    .map((name) => ({ path: [...at, 'additionalHeaders', name], message }));
}
