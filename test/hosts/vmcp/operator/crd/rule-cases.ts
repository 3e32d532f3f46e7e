/** A rule, one spec that satisfies it, and one that does not. */
export interface RuleCase {
  readonly kind: string;
  /** The message of the rule. */
  readonly says: string;
  /** Path of the field that the API server names. */
  readonly at: string;
  readonly accepts: object;
  readonly refuses: object;
}

type Spec = Readonly<Record<string, unknown>>;

/** The smallest VirtualMCPServer, and changes. */
export const server = (changes: Spec = {}): Spec => ({
  groupRef: { name: 'team' },
  incomingAuth: { type: 'anonymous' },
  ...changes,
});

const OIDC_REF = { name: 'idp', audience: 'https://tools.example.com/mcp' };
export const OIDC = { type: 'oidc', oidcConfigRef: OIDC_REF };
const REDIS = { provider: 'redis', address: 'redis:6379' };
const BUCKET = { maxTokens: 1, refillPeriod: '1s' };
const SECRET = { name: 'secret', key: 'value' };

const OIDC_PROVIDER = {
  name: 'idp',
  type: 'oidc',
  oidcConfig: { issuerUrl: 'https://idp.example.com', clientId: 'a' },
};
const OAUTH2 = {
  authorizationEndpoint: 'https://idp.example.com/authorize',
  tokenEndpoint: 'https://idp.example.com/token',
  clientId: 'a',
};

/** An authorization server, and changes. */
export const authServer = (changes: Spec = {}): Spec =>
  server({
    incomingAuth: OIDC,
    authServerConfig: { issuer: 'https://auth.example.com', upstreamProviders: [OIDC_PROVIDER], ...changes },
  });
const provider = (changes: Spec): Spec => authServer({ upstreamProviders: [{ ...OIDC_PROVIDER, ...changes }] });
export const oauth2 = (changes: Spec): Spec =>
  authServer({ upstreamProviders: [{ name: 'idp', type: 'oauth2', oauth2Config: { ...OAUTH2, ...changes } }] });
export const redisStorage = (changes: Spec): Spec =>
  authServer({ storage: { type: 'redis', redis: { aclUserConfig: { passwordSecretRef: SECRET }, ...changes } } });

const SENTINEL = { masterName: 'main', sentinelAddrs: ['sentinel:26379'] };
const DCR = {
  clientId: undefined,
  dcrConfig: { discoveryUrl: 'https://idp.example.com/.well-known/openid-configuration' },
};
const PROVIDER = 'spec.authServerConfig.upstreamProviders[0]';
const REDIS_PATH = 'spec.authServerConfig.storage.redis';

const servers: readonly RuleCase[] = [
  {
    says: 'config.rateLimiting needs sessionStorage with provider redis',
    at: 'spec.config.rateLimiting',
    accepts: server({ sessionStorage: REDIS, config: { rateLimiting: { shared: BUCKET } } }),
    refuses: server({ config: { rateLimiting: { shared: BUCKET }, sessionStorage: { provider: 'memory' } } }),
  },
  {
    says: 'perUser limits need incomingAuth of type oidc',
    at: 'spec.config.rateLimiting.perUser',
    accepts: server({ incomingAuth: OIDC, sessionStorage: REDIS, config: { rateLimiting: { perUser: BUCKET } } }),
    refuses: server({ sessionStorage: REDIS, config: { rateLimiting: { perUser: BUCKET } } }),
  },
  {
    says: 'perUser limits of tools need incomingAuth of type oidc',
    at: 'spec.config.rateLimiting.tools',
    accepts: server({ sessionStorage: REDIS, config: { rateLimiting: { tools: [{ name: 'a', shared: BUCKET }] } } }),
    refuses: server({ sessionStorage: REDIS, config: { rateLimiting: { tools: [{ name: 'a', perUser: BUCKET }] } } }),
  },
  {
    says: 'embeddingServerRef cannot be combined with config.optimizer.embeddingProvider openai',
    at: 'spec.embeddingServerRef',
    accepts: server({ embeddingServerRef: { name: 'e' }, config: { optimizer: {} } }),
    refuses: server({ embeddingServerRef: { name: 'e' }, config: { optimizer: { embeddingProvider: 'openai' } } }),
  },
  {
    says: 'oidcConfigRef is required when type is oidc',
    at: 'spec.incomingAuth.oidcConfigRef',
    accepts: server({ incomingAuth: OIDC }),
    refuses: server({ incomingAuth: { type: 'oidc' } }),
  },
  {
    says: 'authzConfig and authzConfigRef are mutually exclusive',
    at: 'spec.incomingAuth.authzConfigRef',
    accepts: server({ incomingAuth: { type: 'anonymous', authzConfigRef: { name: 'a' } } }),
    refuses: server({
      incomingAuth: { type: 'anonymous', authzConfigRef: { name: 'a' }, authzConfig: { configMap: { name: 'a' } } },
    }),
  },
  {
    says: 'configMap must be set when type is configMap, and only then',
    at: 'spec.incomingAuth.authzConfig.configMap',
    accepts: server({ incomingAuth: { type: 'anonymous', authzConfig: { configMap: { name: 'a' } } } }),
    refuses: server({ incomingAuth: { type: 'anonymous', authzConfig: { type: 'configMap' } } }),
  },
  {
    says: 'inline must be set when type is inline, and only then',
    at: 'spec.incomingAuth.authzConfig.inline',
    accepts: server({ incomingAuth: { type: 'anonymous', authzConfig: { type: 'inline', inline: { policies: [] } } } }),
    refuses: server({
      incomingAuth: { type: 'anonymous', authzConfig: { configMap: { name: 'a' }, inline: { policies: [] } } },
    }),
  },
  {
    says: 'address is required when provider is redis',
    at: 'spec.sessionStorage.address',
    accepts: server({ sessionStorage: REDIS }),
    refuses: server({ sessionStorage: { provider: 'redis' } }),
  },
  {
    says: 'address is required when provider is redis',
    at: 'spec.config.sessionStorage.address',
    accepts: server({ config: { sessionStorage: { provider: 'memory' } } }),
    refuses: server({ config: { sessionStorage: { provider: 'redis' } } }),
  },
  {
    says: 'externalAuthConfigRef must be set when type is externalAuthConfigRef, and only then',
    at: 'spec.outgoingAuth.default.externalAuthConfigRef',
    accepts: server({
      outgoingAuth: { default: { type: 'externalAuthConfigRef', externalAuthConfigRef: { name: 'a' } } },
    }),
    refuses: server({ outgoingAuth: { default: { type: 'externalAuthConfigRef' } } }),
  },
  {
    says: 'externalAuthConfigRef must be set when type is externalAuthConfigRef, and only then',
    at: 'spec.outgoingAuth.backends[github].externalAuthConfigRef',
    accepts: server({ outgoingAuth: { backends: { github: { type: 'discovered' } } } }),
    refuses: server({
      outgoingAuth: { backends: { github: { type: 'discovered', externalAuthConfigRef: { name: 'a' } } } },
    }),
  },
  {
    says: 'is a restricted header',
    at: 'spec.passthroughHeaders[1]',
    accepts: server({ passthroughHeaders: ['X-Tenant', 'x-trace-id'] }),
    refuses: server({ passthroughHeaders: ['X-Tenant', 'X-Forwarded-For'] }),
  },
  {
    says: 'is a restricted header',
    at: 'spec.config.passthroughHeaders[0]',
    accepts: server({ config: { passthroughHeaders: ['x-tenant'] } }),
    refuses: server({ config: { passthroughHeaders: ['HOST'] } }),
  },
].map((each) => ({ kind: 'VirtualMCPServer', ...each }));

const authServers: readonly RuleCase[] = [
  {
    says: 'primaryUpstreamProvider must be the name of one of upstreamProviders',
    at: 'spec.authServerConfig.primaryUpstreamProvider',
    accepts: authServer({ primaryUpstreamProvider: 'idp' }),
    refuses: authServer({ primaryUpstreamProvider: 'other' }),
  },
  {
    says: 'oidcConfig must be set when type is oidc, and only then',
    at: `${PROVIDER}.oidcConfig`,
    accepts: provider({}),
    refuses: provider({ oidcConfig: undefined }),
  },
  {
    says: 'oauth2Config must be set when type is oauth2, and only then',
    at: `${PROVIDER}.oauth2Config`,
    accepts: oauth2({}),
    refuses: provider({ oauth2Config: OAUTH2 }),
  },
  {
    says: 'issuerUrl must be an https URL',
    at: `${PROVIDER}.oidcConfig.issuerUrl`,
    accepts: provider({ insecureAllowHTTP: true, oidcConfig: { issuerUrl: 'http://idp.example.com', clientId: 'a' } }),
    refuses: provider({ oidcConfig: { issuerUrl: 'http://idp.example.com', clientId: 'a' } }),
  },
  {
    says: 'discoveryUrl must be an https URL',
    at: `${PROVIDER}.oauth2Config.dcrConfig.discoveryUrl`,
    accepts: oauth2(DCR),
    refuses: oauth2({ ...DCR, dcrConfig: { discoveryUrl: 'http://idp.example.com/d' } }),
  },
  {
    says: 'registrationEndpoint must be an https URL',
    at: `${PROVIDER}.oauth2Config.dcrConfig.registrationEndpoint`,
    accepts: oauth2({ ...DCR, scopes: ['a'], dcrConfig: { registrationEndpoint: 'https://idp.example.com/r' } }),
    refuses: oauth2({ ...DCR, scopes: ['a'], dcrConfig: { registrationEndpoint: 'http://idp.example.com/r' } }),
  },
  {
    says: 'exactly one of discoveryUrl and registrationEndpoint must be set',
    at: `${PROVIDER}.oauth2Config.dcrConfig.discoveryUrl`,
    accepts: oauth2(DCR),
    refuses: oauth2({
      ...DCR,
      scopes: ['a'],
      dcrConfig: { discoveryUrl: 'https://idp.example.com/d', registrationEndpoint: 'https://idp.example.com/r' },
    }),
  },
  {
    says: 'exactly one of clientId and dcrConfig must be set',
    at: `${PROVIDER}.oauth2Config.clientId`,
    accepts: oauth2(DCR),
    refuses: oauth2({ ...DCR, clientId: 'a' }),
  },
  {
    says: 'clientSecretRef must be absent when dcrConfig is set',
    at: `${PROVIDER}.oauth2Config.clientSecretRef`,
    accepts: oauth2({ clientSecretRef: SECRET }),
    refuses: oauth2({ ...DCR, clientSecretRef: SECRET }),
  },
  {
    says: 'authorizationEndpoint is required unless dcrConfig.discoveryUrl is set',
    at: `${PROVIDER}.oauth2Config.authorizationEndpoint`,
    accepts: oauth2({ ...DCR, authorizationEndpoint: undefined }),
    refuses: oauth2({ authorizationEndpoint: undefined }),
  },
  {
    says: 'tokenEndpoint is required unless dcrConfig.discoveryUrl is set',
    at: `${PROVIDER}.oauth2Config.tokenEndpoint`,
    accepts: oauth2({ ...DCR, tokenEndpoint: undefined }),
    refuses: oauth2({ tokenEndpoint: undefined }),
  },
  {
    says: 'scopes are required with dcrConfig.registrationEndpoint',
    at: `${PROVIDER}.oauth2Config.scopes`,
    accepts: oauth2({ ...DCR, scopes: ['a'], dcrConfig: { registrationEndpoint: 'https://idp.example.com/r' } }),
    refuses: oauth2({ ...DCR, dcrConfig: { registrationEndpoint: 'https://idp.example.com/r' } }),
  },
  {
    says: 'must not contain response_type, client_id',
    at: `${PROVIDER}.oauth2Config.additionalAuthorizationParams`,
    accepts: oauth2({ additionalAuthorizationParams: { prompt: 'consent' } }),
    refuses: oauth2({ additionalAuthorizationParams: { state: 'fixed' } }),
  },
  {
    says: 'must not contain response_type, client_id',
    at: `${PROVIDER}.oidcConfig.additionalAuthorizationParams`,
    accepts: provider({
      oidcConfig: { ...OIDC_PROVIDER.oidcConfig, additionalAuthorizationParams: { access_type: 'offline' } },
    }),
    refuses: provider({ oidcConfig: { ...OIDC_PROVIDER.oidcConfig, additionalAuthorizationParams: { nonce: 'a' } } }),
  },
  {
    says: 'redis must be set when type is redis, and only then',
    at: 'spec.authServerConfig.storage.redis',
    accepts: authServer({ storage: { type: 'memory' } }),
    refuses: authServer({ storage: { type: 'redis' } }),
  },
  {
    says: 'exactly one of addr and sentinelConfig must be set',
    at: `${REDIS_PATH}.addr`,
    accepts: redisStorage({ addr: 'redis:6379' }),
    refuses: redisStorage({ addr: 'redis:6379', sentinelConfig: SENTINEL }),
  },
  {
    says: 'clusterMode requires addr',
    at: `${REDIS_PATH}.clusterMode`,
    accepts: redisStorage({ addr: 'redis:6379', clusterMode: true }),
    refuses: redisStorage({ clusterMode: true, sentinelConfig: SENTINEL }),
  },
  {
    says: 'sentinelTls requires sentinelConfig',
    at: `${REDIS_PATH}.sentinelTls`,
    accepts: redisStorage({ sentinelConfig: SENTINEL, sentinelTls: {} }),
    refuses: redisStorage({ addr: 'redis:6379', sentinelTls: {} }),
  },
  {
    says: 'exactly one of sentinelAddrs and sentinelService must be set',
    at: `${REDIS_PATH}.sentinelConfig.sentinelAddrs`,
    accepts: redisStorage({ sentinelConfig: { masterName: 'main', sentinelService: { name: 'sentinel' } } }),
    refuses: redisStorage({ sentinelConfig: { ...SENTINEL, sentinelService: { name: 'sentinel' } } }),
  },
].map((each) => ({ kind: 'VirtualMCPServer', ...each }));

const SERVICE_ACCOUNT = { type: 'kubernetesServiceAccount' };
const ROLE = 'arn:aws:iam::123456789012:role/tools';
const sts = (changes: Spec): Spec => ({ type: 'awsSts', awsSts: { region: 'eu-central-1', ...changes } });
const TELEMETRY = { endpoint: 'collector:4318', tracing: { enabled: true } };
const telemetry = (changes: Spec): Spec => ({ openTelemetry: { ...TELEMETRY, ...changes } });

const OPTIONS: Readonly<Record<string, object>> = {
  tokenExchange: { tokenUrl: 'https://sts.example.com/token', audience: 'backend' },
  headerInjection: { headerName: 'X-Api-Key', valueSecretRef: SECRET },
  bearerToken: { tokenSecretRef: SECRET },
  embeddedAuthServer: { issuer: 'https://auth.example.com', upstreamProviders: [OIDC_PROVIDER] },
  awsSts: { region: 'eu-central-1', fallbackRoleArn: ROLE },
  upstreamInject: { providerName: 'idp' },
  obo: {},
  xaa: {
    idpTokenUrl: 'https://idp.example.com/token',
    targetTokenUrl: 'https://target.example.com/token',
    targetAudience: 'https://target.example.com',
  },
};

const configurations: readonly RuleCase[] = [
  ...Object.entries(OPTIONS).map(([type, options]) => ({
    kind: 'MCPExternalAuthConfig',
    says: `${type} must be set when type is ${type}, and only then`,
    at: `spec.${type}`,
    accepts: { type, [type]: options },
    refuses: { type: 'unauthenticated', [type]: options },
  })),
  {
    kind: 'MCPExternalAuthConfig',
    says: 'fallbackRoleArn or roleMappings must be set',
    at: 'spec.awsSts.fallbackRoleArn',
    accepts: sts({ roleMappings: [{ claim: 'admins', roleArn: ROLE }] }),
    refuses: sts({ roleMappings: [] }),
  },
  {
    kind: 'MCPExternalAuthConfig',
    says: 'exactly one of claim and matcher must be set',
    at: 'spec.awsSts.roleMappings[0].claim',
    accepts: sts({ roleMappings: [{ matcher: '"a" in claims.groups', roleArn: ROLE }] }),
    refuses: sts({ roleMappings: [{ roleArn: ROLE }] }),
  },
  {
    kind: 'MCPOIDCConfig',
    says: 'inline must be set when type is inline, and only then',
    at: 'spec.inline',
    accepts: { type: 'inline', inline: { issuer: 'https://idp.example.com' } },
    refuses: { type: 'inline' },
  },
  {
    kind: 'MCPOIDCConfig',
    says: 'kubernetesServiceAccount must be absent unless type is kubernetesServiceAccount',
    at: 'spec.kubernetesServiceAccount',
    accepts: SERVICE_ACCOUNT,
    refuses: { type: 'inline', inline: { issuer: 'https://idp.example.com' }, kubernetesServiceAccount: {} },
  },
  {
    kind: 'MCPTelemetryConfig',
    says: 'a header must not be in both headers and sensitiveHeaders',
    at: 'spec.openTelemetry.sensitiveHeaders',
    accepts: telemetry({ headers: { a: 'b' }, sensitiveHeaders: [{ name: 'key', secretKeyRef: SECRET }] }),
    refuses: telemetry({ headers: { key: 'b' }, sensitiveHeaders: [{ name: 'key', secretKeyRef: SECRET }] }),
  },
  {
    kind: 'MCPTelemetryConfig',
    says: 'endpoint needs tracing.enabled or metrics.enabled',
    at: 'spec.openTelemetry.endpoint',
    accepts: telemetry({ tracing: undefined, metrics: { enabled: true } }),
    refuses: telemetry({ tracing: { enabled: false } }),
  },
  {
    kind: 'MCPTelemetryConfig',
    says: 'caBundleRef has no effect with insecure',
    at: 'spec.openTelemetry.caBundleRef',
    accepts: telemetry({ caBundleRef: { configMapRef: { name: 'ca' } } }),
    refuses: telemetry({ insecure: true, caBundleRef: { configMapRef: { name: 'ca' } } }),
  },
  {
    kind: 'MCPServer',
    says: 'name must be none or network when type is builtin',
    at: 'spec.permissionProfile.name',
    accepts: { image: 'a', permissionProfile: { name: 'network' } },
    refuses: { image: 'a', permissionProfile: { name: 'all' } },
  },
  {
    kind: 'MCPServer',
    says: 'key must be set when type is configmap, and only then',
    at: 'spec.permissionProfile.key',
    accepts: { image: 'a', permissionProfile: { type: 'configmap', name: 'profiles', key: 'a' } },
    refuses: { image: 'a', permissionProfile: { type: 'configmap', name: 'profiles' } },
  },
  ...[
    { kind: 'MCPServer', base: { image: 'a' } },
    { kind: 'MCPRemoteProxy', base: { remoteUrl: 'https://mcp.example.com' } },
  ].flatMap(({ kind, base }) => [
    {
      kind,
      says: 'authzConfig and authzConfigRef are mutually exclusive',
      at: 'spec.authzConfigRef',
      accepts: { ...base, authzConfigRef: { name: 'a' } },
      refuses: { ...base, authzConfigRef: { name: 'a' }, authzConfig: { configMap: { name: 'a' } } },
    },
    {
      kind,
      says: 'rateLimiting needs sessionStorage with provider redis',
      at: 'spec.rateLimiting',
      accepts: { ...base, rateLimiting: { shared: BUCKET }, sessionStorage: REDIS },
      refuses: { ...base, rateLimiting: { shared: BUCKET } },
    },
    {
      kind,
      says: 'perUser limits need oidcConfigRef',
      at: 'spec.rateLimiting',
      accepts: { ...base, rateLimiting: { perUser: BUCKET }, sessionStorage: REDIS, oidcConfigRef: OIDC_REF },
      refuses: { ...base, rateLimiting: { perUser: BUCKET }, sessionStorage: REDIS },
    },
  ]),
];

/** Every rule between fields, with an accepted and a refused spec. */
export const RULE_CASES: readonly RuleCase[] = [...servers, ...authServers, ...configurations];
