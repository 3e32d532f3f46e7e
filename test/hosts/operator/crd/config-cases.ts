import { authServer } from './auth-server-cases.ts';
import { BUCKET, type LimitCase, OIDC_REF, REDIS, type RuleCase, type Spec, server } from './server-cases.ts';

const config = (section: Spec): Spec => server({ config: section });
const optimizer = (settings: Spec): Spec => config({ optimizer: settings });
const OPENAI = { embeddingProvider: 'openai', embeddingService: 'https://embed.example.com', embeddingModel: 'm' };
const limits = (rateLimiting: Spec): Spec => server({ sessionStorage: REDIS, config: { rateLimiting } });
const WEB = { name: 'web', url: 'https://web.example.com/mcp', transport: 'streamable-http' };
const backend = (changes: Spec): Spec => config({ backends: [{ ...WEB, ...changes }] });
const aggregation = (settings: Spec): Spec => config({ aggregation: settings });
const sessions = (settings: Spec): Spec => config({ sessionStorage: { provider: 'redis', ...settings } });
const SENTINELS = { sentinelConfig: { masterName: 'main', sentinelAddrs: ['s:26379'] } };
const lifespans = (tokenLifespans: Spec): Spec => authServer({ tokenLifespans });
const breaker = (timeout: string): Spec =>
  config({ operational: { failureHandling: { circuitBreaker: { timeout } } } });
const STEP = { id: 'a', tool: 'b.c' };
const steps = (...each: readonly Spec[]): Spec => config({ compositeTools: [{ name: 'a', steps: each }] });
const ASK = { id: 'a', type: 'elicitation', message: 'Sure?', schema: { properties: { sure: { type: 'boolean' } } } };
const LOOP = { id: 'a', type: 'forEach', collection: '{{ json .params.list }}', step: { tool: 'b.c' } };
const PLUGIN_STEP = { id: 'a', type: 'wait', until: { any: ['thing'] } };
const twice = <T>(each: T): readonly T[] => [each, each];

/** Rules of `spec.config`. */
const ofConfig: readonly Omit<RuleCase, 'kind'>[] = [
  ...['999ms', '1ns', '0.5s'].map((timeout) => ({
    says: 'must be at least 1s',
    at: 'spec.config.operational.failureHandling.circuitBreaker.timeout',
    accepts: breaker('1000ms'),
    refuses: breaker(timeout),
  })),
  {
    says: 'embeddingHeaders are for embeddingProvider openai only',
    at: 'spec.config.optimizer.embeddingHeaders',
    accepts: optimizer({ ...OPENAI, embeddingHeaders: { 'X-Tenant': 'a' } }),
    refuses: optimizer({ embeddingHeaders: { 'X-Tenant': 'a' } }),
  },
  ...['Authorization', 'content-type', 'CONTENT-TYPE', 'Host', 'two words'].map((name) => ({
    says: 'must be names of headers, without Authorization, Content-Type and those of the connection',
    at: 'spec.config.optimizer.embeddingHeaders',
    accepts: optimizer({ ...OPENAI, embeddingHeaders: { 'X-Authorization': 'a' } }),
    refuses: optimizer({ ...OPENAI, embeddingHeaders: { [name]: 'a' } }),
  })),
  ...['embeddingService', 'embeddingModel'].map((key) => ({
    says: `${key} is required`,
    at: `spec.config.optimizer.${key}`,
    accepts: optimizer(OPENAI),
    refuses: optimizer({ ...OPENAI, [key]: undefined }),
  })),
  {
    says: 'embeddingService has no effect with local',
    at: 'spec.config.optimizer.embeddingService',
    accepts: optimizer({ embeddingProvider: 'local', embeddingModel: '/models/a' }),
    refuses: optimizer({ ...OPENAI, embeddingProvider: 'local' }),
  },
  ...[{}, { tools: [] }, { onStoreFailure: 'closed' }].map((rateLimiting) => ({
    says: 'at least one of shared, perUser and tools must be set',
    at: 'spec.config.rateLimiting',
    accepts: limits({ tools: [{ name: 'a', shared: BUCKET }] }),
    refuses: limits(rateLimiting),
  })),
  {
    says: 'shared or perUser must be set',
    at: 'spec.config.rateLimiting.tools[1]',
    accepts: limits({ tools: [{ name: 'a', shared: BUCKET }] }),
    refuses: limits({ tools: [{ name: 'a', shared: BUCKET }, { name: 'b' }] }),
  },
  {
    says: 'bytes or estimatedTokens must be set',
    at: 'spec.config.resultLimits.default',
    accepts: config({ resultLimits: { default: { estimatedTokens: 1_024 }, tools: [{ name: 'a' }] } }),
    refuses: config({ resultLimits: { default: {} } }),
  },
  {
    says: 'url must be set unless transport is stdio',
    at: 'spec.config.backends[0].url',
    accepts: backend({}),
    refuses: backend({ url: undefined }),
  },
  {
    says: 'command must be set when transport is stdio, and only then',
    at: 'spec.config.backends[0].command',
    accepts: backend({ transport: 'stdio', url: undefined, command: { file: 'server' } }),
    refuses: backend({ command: { file: 'server' } }),
  },
  {
    says: 'caBundlePath applies only to backends of type entry',
    at: 'spec.config.backends[0].caBundlePath',
    accepts: backend({ type: 'entry', caBundlePath: '/etc/ca.crt' }),
    refuses: backend({ caBundlePath: '/etc/ca.crt' }),
  },
  ...[
    ['tool', STEP],
    ['tool', { ...STEP, type: 'tool' }],
    ['message', ASK],
    ['collection', LOOP],
    ['step', LOOP],
  ].map(([key, step]) => ({
    says: `${key} is required when type is`,
    at: `spec.config.compositeTools[0].steps[1].${key}`,
    accepts: steps(PLUGIN_STEP, { ...(step as Spec), id: 'b' }),
    refuses: steps(PLUGIN_STEP, { ...(step as Spec), id: 'b', [key as string]: undefined }),
  })),
  ...[{ conflictResolution: 'priority' }, { conflictResolutionConfig: { priorityOrder: ['a'] } }].map((each) => ({
    says: 'priorityOrder must be set when conflictResolution is priority, and only then',
    at: 'spec.config.aggregation.conflictResolutionConfig',
    accepts: aggregation({ conflictResolution: 'priority', conflictResolutionConfig: { priorityOrder: ['a'] } }),
    refuses: aggregation(each),
  })),
  {
    says: 'tools are required when conflictResolution is manual',
    at: 'spec.config.aggregation.tools',
    accepts: aggregation({ conflictResolution: 'manual', tools: [{ workload: 'a' }] }),
    refuses: aggregation({ conflictResolution: 'manual' }),
  },
  {
    says: 'address and sentinelConfig are mutually exclusive',
    at: 'spec.config.sessionStorage.sentinelConfig',
    accepts: sessions(SENTINELS),
    refuses: sessions({ ...SENTINELS, address: 'redis:6379' }),
  },
  {
    says: 'clusterMode requires address, and db 0',
    at: 'spec.config.sessionStorage.clusterMode',
    accepts: sessions({ clusterMode: true, address: 'redis:6379' }),
    refuses: sessions({ clusterMode: true, address: 'redis:6379', db: 1 }),
  },
  {
    says: 'sentinelTls requires sentinelConfig',
    at: 'spec.config.sessionStorage.sentinelTls',
    accepts: sessions({ ...SENTINELS, sentinelTls: {} }),
    refuses: sessions({ address: 'redis:6379', sentinelTls: {} }),
  },
  ...(
    [
      ['accessTokenLifespan', '59s', '1h', 'must be from 1m to 24h'],
      ['refreshTokenLifespan', '721h', '720h', 'must be from 1h to 720h'],
      ['authCodeLifespan', '11m', '30s', 'must be from 30s to 10m'],
    ] as const
  ).map(([key, wrong, right, says]) => ({
    says,
    at: `spec.authServerConfig.tokenLifespans.${key}`,
    accepts: lifespans({ [key]: right }),
    refuses: lifespans({ [key]: wrong }),
  })),
  {
    says: 'must be from 1ns to 24h',
    at: 'spec.authServerConfig.delegationTokenLifespan',
    accepts: authServer({ delegationTokenLifespan: '24h' }),
    refuses: authServer({ delegationTokenLifespan: '24h1s' }),
  },
];

const ofProxies = [
  { kind: 'MCPServer', base: { image: 'a' } },
  { kind: 'MCPRemoteProxy', base: { remoteUrl: 'https://mcp.example.com' } },
].flatMap(({ kind, base }) => [
  {
    kind,
    says: 'at least one of shared, perUser and tools must be set',
    at: 'spec.rateLimiting',
    accepts: { ...base, rateLimiting: { shared: BUCKET }, sessionStorage: REDIS, oidcConfigRef: OIDC_REF },
    refuses: { ...base, rateLimiting: {}, sessionStorage: REDIS },
  },
]);

/** Rules of `spec.config` and of what other kinds share with it. */
export const CONFIG_CASES: readonly RuleCase[] = [
  ...ofConfig.map((each) => ({ kind: 'VirtualMCPServer', ...each })),
  ...ofProxies,
];

/** Bounds, forms and duplicates in `spec.config`. */
export const CONFIG_LIMITS: readonly LimitCase[] = [
  {
    at: 'spec.config.backends[0].url',
    accepts: [backend({ url: 'http://web.team.svc:8080/mcp' })],
    refuses: ['ftp://web.example.com/mcp', 'web.example.com', ' https://web.example.com', ''].map((url) =>
      backend({ url }),
    ),
  },
  {
    at: 'spec.config.backends[1]',
    accepts: [config({ backends: [WEB, { ...WEB, name: 'other' }] })],
    refuses: [config({ backends: twice(WEB) })],
  },
  {
    at: 'spec.config.aggregation.tools[1]',
    refuses: [aggregation({ tools: [{ workload: 'a' }, { workload: 'a', excludeAll: true }] })],
  },
  {
    at: 'spec.config.aggregation.tools[0].overrides[a]',
    refuses: [aggregation({ tools: [{ workload: 'a', overrides: { a: {} } }] })],
  },
  {
    at: 'spec.config.aggregation.tools[0].overrides[a].annotations',
    refuses: [aggregation({ tools: [{ workload: 'a', overrides: { a: { annotations: {} } } }] })],
  },
  {
    at: 'spec.config.aggregation.conflictResolutionConfig.prefixFormat',
    accepts: ['', '{workload}_', 'x-{workload}'].map((prefixFormat) =>
      aggregation({ conflictResolutionConfig: { prefixFormat } }),
    ),
    refuses: ['{server}_', '{workload', 'a}'].map((prefixFormat) =>
      aggregation({ conflictResolutionConfig: { prefixFormat } }),
    ),
  },
  {
    at: 'spec.config.compositeTools[1]',
    refuses: [config({ compositeTools: twice({ name: 'a', steps: [STEP] }) })],
  },
  {
    at: 'spec.config.compositeTools[0].steps[1]',
    refuses: [config({ compositeTools: [{ name: 'a', steps: twice(STEP) }] })],
  },
  ...(
    [
      ['tool', STEP, [3, 'b c']],
      ['arguments', STEP, ['text', ['list']]],
      ['message', ASK, [3, '']],
      ['schema', ASK, ['text']],
      ['onDecline', ASK, ['abort']],
      ['onCancel.action', ASK, [{ action: 'stop' }]],
      ['collection', LOOP, [[1, 2], '']],
      ['itemVar', LOOP, ['1st']],
      ['maxIterations', LOOP, [1001, -1, '5']],
      ['maxParallel', LOOP, [-1]],
      ['step.tool', LOOP, [{}, { tool: '' }]],
    ] as const
  ).map(([key, step, wrong]) => ({
    at: `spec.config.compositeTools[0].steps[0].${key}`,
    accepts: [steps(step)],
    refuses: wrong.map((value) => steps({ ...step, [key.split('.')[0] as string]: value })),
  })),
  { at: 'spec.config.compositeToolRefs[1]', refuses: [config({ compositeToolRefs: twice({ name: 'a' }) })] },
  { at: 'spec.config.passthroughHeaders[1]', refuses: [config({ passthroughHeaders: twice('x-tenant') })] },
  {
    at: 'spec.config.rateLimiting.tools[1]',
    refuses: [limits({ tools: twice({ name: 'a', shared: BUCKET }) })],
  },
  {
    at: 'spec.config.optimizer.embeddingServiceTimeout',
    accepts: [optimizer({ embeddingServiceTimeout: '0h0.001s' })],
    refuses: ['0', '0s', '0h0.0m', '-1s', '1'].map((embeddingServiceTimeout) => optimizer({ embeddingServiceTimeout })),
  },
  {
    at: 'spec.config.optimizer.hybridSearchSemanticRatio',
    accepts: ['0', '0.0', '0.75', '1', '1.00'].map((each) => optimizer({ hybridSearchSemanticRatio: each })),
    refuses: ['1.01', '2', '-0.5', '.5', 'half', 0.5].map((each) => optimizer({ hybridSearchSemanticRatio: each })),
  },
  {
    at: 'spec.config.optimizer.semanticDistanceThreshold',
    accepts: ['2', '1.99'].map((each) => optimizer({ semanticDistanceThreshold: each })),
    refuses: ['2.1', '3'].map((each) => optimizer({ semanticDistanceThreshold: each })),
  },
].map((each) => ({ kind: 'VirtualMCPServer', ...each }));
