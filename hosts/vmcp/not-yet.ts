import { nearest } from '@toolmgr/core';
import type { StrategyConfig, VmcpConfig } from './config-schema.ts';

/** A sentence about one place of the file. */
export interface Problem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

const POLICY = 'is not available yet: it comes with the policy plugins';
const HEALTH = 'is not available yet: it comes with health checks and the breaker';

/**
 * What the file asks for and this version cannot do, each by its name: nothing is read and then ignored.
 * A value that means "off" is not a wish and passes.
 */
export function unavailable(config: VmcpConfig): Problem[] {
  const problems: Problem[] = [];
  const refuse = (path: Problem['path'], message: string): void => void problems.push({ path, message });

  const { incomingAuth } = config;
  if (incomingAuth !== undefined && incomingAuth.type !== 'anonymous')
    refuse(['incomingAuth', 'type'], `${incomingAuth.type} ${POLICY}`);
  else if (incomingAuth?.oidc !== undefined) {
    refuse(['incomingAuth', 'oidc'], 'has no effect with type anonymous; remove it, or set type: oidc');
  }
  const authz = incomingAuth?.authz;
  if (authz?.type === 'cedar') refuse(['incomingAuth', 'authz', 'type'], `cedar ${POLICY}`);
  else if (authz?.policies !== undefined && authz.policies.length > 0) {
    refuse(['incomingAuth', 'authz', 'policies'], 'would not be decided with type none; remove them');
  }

  if (config.codeMode?.enabled) refuse(['codeMode', 'enabled'], 'is not available yet: it comes with code mode');
  if (config.optimizer !== undefined) refuse(['optimizer'], 'is not available yet: it comes with the optimizer');
  if (config.compositeTools?.length) refuse(['compositeTools'], 'is not available yet: it comes with composite tools');
  if (config.compositeToolRefs?.length) {
    refuse(['compositeToolRefs'], 'refers to cluster resources and works only under the operator');
  }
  const limits = config.rateLimiting;
  if (limits?.shared || limits?.perUser || limits?.tools?.length) refuse(['rateLimiting'], POLICY);
  if (config.sessionStorage?.provider === 'redis') {
    refuse(['sessionStorage', 'provider'], 'redis is not available yet: it comes with the redis store');
  }
  for (const key of ['tracingEnabled', 'metricsEnabled', 'enablePrometheusMetricsPath'] as const) {
    if (config.telemetry?.[key]) refuse(['telemetry', key], 'is not available yet: it comes with telemetry');
  }
  for (const [key, value] of Object.entries(config.operational?.failureHandling ?? {})) {
    const off = value === undefined || (key === 'circuitBreaker' && isOffBreaker(value));
    if (!off) refuse(['operational', 'failureHandling', key], HEALTH);
  }

  if (config.outgoingAuth.source === 'discovered') {
    refuse(
      ['outgoingAuth', 'source'],
      'discovered works only under the operator; write the strategies and source: inline',
    );
  }
  for (const [place, use] of strategies(config)) refuseStrategy(place, use, refuse);
  return problems;
}

function isOffBreaker(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'enabled' in value && value.enabled === false;
}

/** Every strategy of a file with its place. */
export function strategies(config: VmcpConfig): [Problem['path'], StrategyConfig][] {
  const { default: fallback, backends = {} } = config.outgoingAuth;
  const listed = Object.entries(backends).map(([backend, use]): [Problem['path'], StrategyConfig] => [
    ['outgoingAuth', 'backends', backend],
    use,
  ]);
  return fallback === undefined ? listed : [[['outgoingAuth', 'default'], fallback], ...listed];
}

/** The key that holds the options of a strategy. */
const OPTIONS_KEY = {
  unauthenticated: undefined,
  header_injection: 'headerInjection',
  token_exchange: 'tokenExchange',
  upstream_inject: 'upstreamInject',
  aws_sts: 'awsSts',
  obo: 'obo',
  xaa: 'xaa',
} as const satisfies Record<StrategyConfig['type'], keyof StrategyConfig | undefined>;

const COMES_WITH = {
  unauthenticated: undefined,
  header_injection: undefined,
  token_exchange: 'the policy plugins',
  upstream_inject: 'the embedded authorization server',
  aws_sts: 'the policy plugins',
  obo: 'the policy plugins',
  xaa: 'the policy plugins',
} as const satisfies Record<StrategyConfig['type'], string | undefined>;

function refuseStrategy(
  place: Problem['path'],
  use: StrategyConfig,
  refuse: (path: Problem['path'], message: string) => void,
): void {
  const later = COMES_WITH[use.type];
  if (later !== undefined) refuse([...place, 'type'], `${use.type} is not available yet: it comes with ${later}`);
  const wanted = OPTIONS_KEY[use.type];
  if (later === undefined && wanted !== undefined && use[wanted] === undefined) {
    refuse(place, `type ${use.type} needs ${wanted}`);
  }
  for (const key of Object.values(OPTIONS_KEY)) {
    if (key === undefined || key === wanted || use[key] === undefined) continue;
    refuse([...place, key], `has no effect with type ${use.type}; remove it`);
  }
}

/** Names that no backend of a static list has, where a slip would send the wrong credentials or wait the wrong time. */
export function unknownWorkloads(config: VmcpConfig): Problem[] {
  const names = config.backends?.map((backend) => backend.name) ?? [];
  if (names.length === 0) return [];
  const places: [Problem['path'], string[]][] = [
    [['outgoingAuth', 'backends'], Object.keys(config.outgoingAuth.backends ?? {})],
    [['operational', 'timeouts', 'perWorkload'], Object.keys(config.operational?.timeouts?.perWorkload ?? {})],
  ];
  return places.flatMap(([path, given]) =>
    given
      .filter((workload) => !names.includes(workload))
      .map((workload) => {
        const hint = nearest(workload, names);
        const advice = hint === undefined ? ` (backends: ${names.join(', ')})` : `, did you mean "${hint}"?`;
        return { path: [...path, workload], message: `no backend is named "${workload}"${advice}` };
      }),
  );
}
