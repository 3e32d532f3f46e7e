import { authServer, oauth2, redisStorage } from './auth-server-cases.ts';
import { CONFIG_LIMITS } from './config-cases.ts';
import { type LimitCase, server } from './server-cases.ts';

const optimizer = (maxToolsToReturn: unknown) => server({ config: { optimizer: { maxToolsToReturn } } });
const codeMode = (settings: object) => server({ config: { codeMode: settings } });
const audit = (settings: object) => server({ config: { audit: settings } });
const breaker = (settings: object) =>
  server({ config: { operational: { failureHandling: { circuitBreaker: settings } } } });
const bucket = (maxTokens: unknown, refillPeriod = '1s') =>
  server({
    sessionStorage: { provider: 'redis', address: 'redis:6379' },
    config: { rateLimiting: { shared: { maxTokens, refillPeriod } } },
  });
const authz = (fields: object) =>
  server({ incomingAuth: { type: 'anonymous', authzConfig: { configMap: { name: 'a' }, ...fields } } });
const inline = (fields: object) =>
  server({ incomingAuth: { type: 'anonymous', authzConfig: { type: 'inline', inline: { policies: [], ...fields } } } });
const oidcRef = (fields: object) =>
  server({ incomingAuth: { type: 'oidc', oidcConfigRef: { name: 'a', audience: 'b', ...fields } } });
const dcr = (fields: object) =>
  oauth2({ clientId: undefined, dcrConfig: { discoveryUrl: 'https://idp.example.com/d', ...fields } });
const identity = (fields: object) => oauth2({ identityFromToken: { subjectPath: 'sub', ...fields } });
const LABEL_63 = 'a'.repeat(63);
const PROVIDER = 'spec.authServerConfig.upstreamProviders[0]';

/** Limits of VirtualMCPServer. Source: vmcp spec §2, §8. */
const ofServers: readonly Omit<LimitCase, 'kind'>[] = [
  { at: 'spec.groupRef', refuses: [server({ groupRef: undefined })] },
  { at: 'spec.groupRef.name', refuses: [server({ groupRef: {} }), server({ groupRef: { name: '' } })] },
  { at: 'spec.incomingAuth', refuses: [server({ incomingAuth: undefined })] },
  {
    at: 'spec.incomingAuth.type',
    refuses: [server({ incomingAuth: {} }), server({ incomingAuth: { type: 'local' } })],
  },
  { at: 'spec.incomingAuth.oidcConfigRef.name', refuses: [oidcRef({ name: '' }), oidcRef({ name: undefined })] },
  {
    at: 'spec.incomingAuth.oidcConfigRef.audience',
    refuses: [oidcRef({ audience: '' }), oidcRef({ audience: undefined })],
  },
  { at: 'spec.incomingAuth.oidcConfigRef.resourceUrl', refuses: [oidcRef({ resourceUrl: 'tools.example.com' })] },
  {
    at: 'spec.incomingAuth.authzConfigRef.name',
    refuses: [server({ incomingAuth: { type: 'anonymous', authzConfigRef: { name: '' } } })],
  },
  { at: 'spec.incomingAuth.authzConfig.type', refuses: [authz({ type: 'file' })] },
  { at: 'spec.incomingAuth.authzConfig.configMap.name', refuses: [authz({ configMap: {} })] },
  { at: 'spec.incomingAuth.authzConfig.inline.policies', refuses: [inline({ policies: undefined })] },
  {
    at: 'spec.incomingAuth.authzConfig.inline.primaryUpstreamProvider',
    accepts: [inline({ primaryUpstreamProvider: LABEL_63 })],
    refuses: ['', 'a'.repeat(64), 'Idp', '-a', 'a-'].map((each) => inline({ primaryUpstreamProvider: each })),
  },
  {
    at: 'spec.incomingAuth.authzConfig.groupClaimName',
    accepts: [authz({ groupClaimName: 'a'.repeat(253) })],
    refuses: [authz({ groupClaimName: 'a'.repeat(254) })],
  },
  {
    at: 'spec.incomingAuth.authzConfig.roleClaimName',
    accepts: [authz({ roleClaimName: 'a'.repeat(253) })],
    refuses: [authz({ roleClaimName: 'a'.repeat(254) })],
  },
  {
    at: 'spec.incomingAuth.authzConfig.groupEntityType',
    accepts: ['', '_Group1', LABEL_63].map((each) => authz({ groupEntityType: each })),
    refuses: ['1Group', 'Acme::Group', 'a'.repeat(64)].map((each) => authz({ groupEntityType: each })),
  },
  { at: 'spec.outgoingAuth.source', refuses: [server({ outgoingAuth: { source: 'mixed' } })] },
  { at: 'spec.outgoingAuth.default.type', refuses: [server({ outgoingAuth: { default: {} } })] },
  {
    at: 'spec.outgoingAuth.backends[a].type',
    refuses: [server({ outgoingAuth: { backends: { a: { type: 'inline' } } } })],
  },
  {
    at: 'spec.outgoingAuth.default.externalAuthConfigRef.name',
    refuses: [server({ outgoingAuth: { default: { type: 'externalAuthConfigRef', externalAuthConfigRef: {} } } })],
  },
  { at: 'spec.embeddingServerRef.name', refuses: [server({ embeddingServerRef: {} })] },
  { at: 'spec.passthroughHeaders[0]', refuses: [server({ passthroughHeaders: ['two words'] })] },
  {
    at: 'spec.replicas',
    accepts: [server({ replicas: 0 }), server({ replicas: 2_147_483_647 })],
    refuses: [server({ replicas: -1 }), server({ replicas: 2_147_483_648 }), server({ replicas: 1.5 })],
  },
  {
    at: 'spec.serviceType',
    accepts: [server({ serviceType: 'NodePort' })],
    refuses: [server({ serviceType: 'ExternalName' })],
  },
  {
    at: 'spec.sessionAffinity',
    accepts: [server({ sessionAffinity: 'None' })],
    refuses: [server({ sessionAffinity: 'Cookie' })],
  },
  {
    at: 'spec.sessionStorage.provider',
    refuses: [server({ sessionStorage: {} }), server({ sessionStorage: { provider: 'file' } })],
  },
  { at: 'spec.sessionStorage.address', refuses: [server({ sessionStorage: { provider: 'redis', address: '' } })] },
  {
    at: 'spec.sessionStorage.db',
    refuses: [-1, 2_147_483_648].map((db) => server({ sessionStorage: { provider: 'memory', db } })),
  },
  {
    at: 'spec.sessionStorage.keyPrefix',
    accepts: [server({ sessionStorage: { provider: 'memory', keyPrefix: 'tools:' } })],
    refuses: [server({ sessionStorage: { provider: 'memory', keyPrefix: 5 } })],
  },
  {
    at: 'spec.sessionStorage.passwordRef.key',
    refuses: [server({ sessionStorage: { provider: 'memory', passwordRef: { name: 'a' } } })],
  },
  {
    at: 'spec.telemetryConfigRef.name',
    refuses: [server({ telemetryConfigRef: {} }), server({ telemetryConfigRef: { name: '' } })],
  },
  {
    at: 'spec.podTemplateSpec',
    accepts: [server({ podTemplateSpec: { spec: { a: [1] } } })],
    refuses: [server({ podTemplateSpec: 'a' })],
  },
  {
    at: 'spec.config.optimizer.maxToolsToReturn',
    accepts: [optimizer(1), optimizer(50)],
    refuses: [optimizer(0), optimizer(51)],
  },
  {
    at: 'spec.config.codeMode.stepLimit',
    accepts: [codeMode({ stepLimit: 1 })],
    refuses: [codeMode({ stepLimit: 0 })],
  },
  {
    at: 'spec.config.codeMode.parallelMaxConcurrency',
    accepts: [codeMode({ parallelMaxConcurrency: 1 })],
    refuses: [codeMode({ parallelMaxConcurrency: 0 })],
  },
  {
    at: 'spec.config.codeMode.toolCallTimeout',
    accepts: [codeMode({ toolCallTimeout: '1h30m' })],
    refuses: [codeMode({ toolCallTimeout: '30' }), codeMode({ toolCallTimeout: '1 s' })],
  },
  {
    at: 'spec.config.audit.maxDelegationDepth',
    accepts: [audit({ maxDelegationDepth: 1 })],
    refuses: [audit({ maxDelegationDepth: 0 })],
  },
  {
    at: 'spec.config.rateLimiting.shared.maxTokens',
    accepts: [bucket(1)],
    refuses: [bucket(0), bucket(2_147_483_648), bucket('1')],
  },
  { at: 'spec.config.rateLimiting.shared.refillPeriod', refuses: [bucket(1, '1 minute')] },
  {
    at: 'spec.config.operational.failureHandling.circuitBreaker.failureThreshold',
    accepts: [breaker({ failureThreshold: 1 })],
    refuses: [breaker({ failureThreshold: 0 })],
  },
  { at: 'spec.config.operational.logLevel', refuses: [server({ config: { operational: { logLevel: 'info' } } })] },
  {
    at: 'spec.config.aggregation.tools[0].toolConfigRef.name',
    refuses: [server({ config: { aggregation: { tools: [{ workload: 'a', toolConfigRef: {} }] } } })],
  },
  { at: 'spec.config.compositeToolRefs[0].name', refuses: [server({ config: { compositeToolRefs: [{}] } })] },
  { at: 'spec.config.metadata[a]', refuses: [server({ config: { metadata: { a: 1 } } })] },
  {
    at: 'spec.authServerConfig.issuer',
    accepts: [authServer({ issuer: 'http://localhost:8080/auth' })],
    refuses: ['https://auth.example.com/', 'https://auth.example.com?a', 'auth.example.com'].map((issuer) =>
      authServer({ issuer }),
    ),
  },
  {
    at: 'spec.authServerConfig.authorizationEndpointBaseUrl',
    refuses: [authServer({ authorizationEndpointBaseUrl: 'https://a.example.com#b' })],
  },
  { at: 'spec.authServerConfig.upstreamProviders', refuses: [authServer({ upstreamProviders: [] })] },
  {
    at: 'spec.authServerConfig.upstreamProviders[1]',
    refuses: [
      authServer({
        upstreamProviders: ['a', 'a'].map((name) => ({
          ...{ name, type: 'oidc' },
          oidcConfig: { issuerUrl: 'https://idp.example.com', clientId: 'a' },
        })),
      }),
    ],
  },
  {
    at: 'spec.authServerConfig.primaryUpstreamProvider',
    refuses: [authServer({ primaryUpstreamProvider: 'Idp' }), authServer({ primaryUpstreamProvider: 'a'.repeat(64) })],
  },
  {
    at: 'spec.authServerConfig.cimd.cacheMaxSize',
    accepts: [authServer({ cimd: { enabled: true, cacheMaxSize: 1 } })],
    refuses: [authServer({ cimd: { enabled: true, cacheMaxSize: 0 } })],
  },
  {
    at: 'spec.authServerConfig.hmacSecretRefs[0].key',
    refuses: [authServer({ hmacSecretRefs: [{ name: 'a' }] })],
  },
  {
    at: 'spec.authServerConfig.tokenLifespans.accessTokenLifespan',
    refuses: [authServer({ tokenLifespans: { accessTokenLifespan: '1 day' } })],
  },
  {
    at: 'spec.authServerConfig.storage.redis.aclUserConfig.passwordSecretRef',
    refuses: [redisStorage({ addr: 'redis:6379', aclUserConfig: {} })],
  },
  { at: 'spec.authServerConfig.storage.redis.addr', refuses: [redisStorage({ addr: 'redis' })] },
  {
    at: `${PROVIDER}.oauth2Config.dcrConfig.softwareId`,
    accepts: [dcr({ softwareId: 'a'.repeat(255) })],
    refuses: [dcr({ softwareId: 'a'.repeat(256) })],
  },
  {
    at: `${PROVIDER}.oauth2Config.dcrConfig.softwareStatement`,
    accepts: [dcr({ softwareStatement: 'a'.repeat(16_384) })],
    refuses: [dcr({ softwareStatement: 'a'.repeat(16_385) })],
  },
  {
    at: `${PROVIDER}.oauth2Config.dcrConfig.discoveryUrl`,
    accepts: [dcr({ discoveryUrl: `https://idp.example.com/${'a'.repeat(2024)}` })],
    refuses: [
      dcr({ discoveryUrl: `https://idp.example.com/${'a'.repeat(2025)}` }),
      dcr({ discoveryUrl: 'https://idp.example.com/' }),
    ],
  },
  {
    at: `${PROVIDER}.oauth2Config.identityFromToken.subjectPath`,
    accepts: [identity({ subjectPath: 'a'.repeat(256) })],
    refuses: [identity({ subjectPath: '' }), identity({ subjectPath: 'a'.repeat(257) })],
  },
  {
    at: `${PROVIDER}.oauth2Config.identityFromToken.emailPath`,
    refuses: [identity({ emailPath: '' }), identity({ emailPath: 'a'.repeat(257) })],
  },
];

/** Bounds of single fields, with specs inside and outside. */
export const LIMIT_CASES: readonly LimitCase[] = [
  ...ofServers.map((each) => ({ kind: 'VirtualMCPServer', ...each })),
  ...CONFIG_LIMITS,
  {
    kind: 'MCPServerEntry',
    at: 'spec.remoteUrl',
    accepts: [{ remoteUrl: 'http://mcp.example.com/mcp', transport: 'sse', groupRef: { name: 'a' } }],
    refuses: ['ftp://mcp.example.com', 'https://', 'mcp.example.com'].map((remoteUrl) => ({
      ...{ remoteUrl, transport: 'sse', groupRef: { name: 'a' } },
    })),
  },
  {
    kind: 'MCPServerEntry',
    at: 'spec.transport',
    refuses: [
      { remoteUrl: 'https://a.example.com', groupRef: { name: 'a' } },
      { remoteUrl: 'https://a.example.com', transport: 'stdio', groupRef: { name: 'a' } },
    ],
  },
  {
    kind: 'MCPExternalAuthConfig',
    at: 'spec.awsSts.sessionDuration',
    accepts: [900, 43_200].map(session),
    refuses: [899, 43_201].map(session),
  },
  { kind: 'EmbeddingServer', at: 'spec.replicas', accepts: [{ replicas: 1 }, {}], refuses: [{ replicas: 0 }] },
  {
    kind: 'VirtualMCPCompositeToolDefinition',
    at: 'spec.steps',
    accepts: [{ name: 'a', steps: [{ id: 'a', tool: 'b.c' }] }],
    refuses: [{ name: 'a' }],
  },
];

function session(sessionDuration: number): object {
  const fallbackRoleArn = 'arn:aws:iam::123456789012:role/tools';
  return { type: 'awsSts', awsSts: { region: 'eu-central-1', fallbackRoleArn, sessionDuration } };
}
