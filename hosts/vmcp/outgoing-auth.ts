import { isObject } from '@toolmgr/core';
import type { StrategyConfig, VmcpConfig } from './config-schema.ts';
import type { Problem } from './problem.ts';

type StrategyName = StrategyConfig['type'];

/** A strategy that this version has: the plugin that fills the slot, and the key of its options. */
interface Present {
  readonly plugin: string;
  readonly options?: 'headerInjection' | 'tokenExchange';
  /** Works with the token that a caller came with. */
  readonly needsCallerToken?: true;
}

/** One that it has not. */
interface Absent {
  readonly options: 'upstreamInject' | 'awsSts' | 'obo' | 'xaa';
  readonly why: string;
}

const LATER = 'is not available yet: it comes with the embedded authorization server';

const STRATEGIES: Readonly<Record<StrategyName, Present | Absent>> = {
  unauthenticated: { plugin: 'outgoing-auth/unauthenticated' },
  header_injection: { plugin: 'outgoing-auth/header-injection', options: 'headerInjection' },
  token_exchange: { plugin: 'outgoing-auth/token-exchange', options: 'tokenExchange', needsCallerToken: true },
  upstream_inject: { options: 'upstreamInject', why: LATER },
  aws_sts: { options: 'awsSts', why: LATER },
  obo: { options: 'obo', why: 'is refused as enterprise-required: the default build does not have it' }, // vmcp spec §7
  xaa: { options: 'xaa', why: LATER },
};

/** Every strategy of a file with its place. */
export function strategies(config: VmcpConfig): [Problem['path'], StrategyConfig][] {
  const { default: fallback, backends = {} } = config.outgoingAuth;
  const listed = Object.entries(backends).map(([backend, use]): [Problem['path'], StrategyConfig] => [
    ['outgoingAuth', 'backends', backend],
    use,
  ]);
  return fallback === undefined ? listed : [[['outgoingAuth', 'default'], fallback], ...listed];
}

/** The plugins that the strategies of a file need, in the order of the table; the default's among them. */
export function strategyPlugins(config: VmcpConfig): string[] {
  const types = new Set<string>(['unauthenticated', ...strategies(config).map(([, use]) => use.type)]);
  return Object.entries(STRATEGIES).flatMap(([type, it]) => (types.has(type) && 'plugin' in it ? [it.plugin] : []));
}

/** One use of a strategy as plans have it. */
export function strategyUse(use: StrategyConfig): { type: string; options?: unknown } {
  const { options } = STRATEGIES[use.type];
  const given = options === undefined ? undefined : use[options];
  return given === undefined ? { type: use.type } : { type: use.type, options: given };
}

/** Options that a plugin of this version reads, with their place and the address of the plugin. */
export function ownedOptions(config: VmcpConfig): { path: Problem['path']; use: StrategyConfig; plugin: string }[] {
  return strategies(config).flatMap(([place, use]) => {
    const it = STRATEGIES[use.type];
    if (!('plugin' in it) || it.options === undefined || use[it.options] === undefined) return [];
    return [{ path: [...place, it.options], use, plugin: it.plugin }];
  });
}

/** Strategies that cannot work, each by its name: absent ones, options that are missing or of another type, no token. */
export function refusedStrategies(config: VmcpConfig): Problem[] {
  return strategies(config).flatMap(([place, use]) => {
    const it = STRATEGIES[use.type];
    const stray = Object.values(STRATEGIES).flatMap(({ options }) =>
      options === undefined || options === it.options || use[options] === undefined ? [] : [options],
    );
    return [
      ...('why' in it
        ? [{ path: [...place, 'type'], message: `${use.type} ${it.why}` }]
        : withoutOptions(place, use, it)),
      ...('why' in it || !it.needsCallerToken || callersHaveTokens(config) ? [] : [withoutTokens(place, use)]),
      ...stray.map((key) => ({ path: [...place, key], message: `has no effect with type ${use.type}; remove it` })),
    ];
  });
}

function withoutOptions(path: Problem['path'], use: StrategyConfig, { options }: Present): Problem[] {
  if (options === undefined || use[options] !== undefined) return [];
  return [{ path, message: `type ${use.type} needs ${options}` }];
}

/** Credentials for programs, which take none over their pipes. What stands as the default is meant for the others. */
export function credentialsOfPrograms({ outgoingAuth, backends = [] }: VmcpConfig): Problem[] {
  return Object.entries(outgoingAuth.backends ?? {}).flatMap(([name, { type }]) => {
    const isProgram = backends.some((backend) => backend.name === name && backend.transport === 'stdio');
    if (!isProgram || type === 'unauthenticated') return [];
    const message = `${type} has no effect on a program (transport stdio); hand it what it needs in command.env`;
    return [{ path: ['outgoingAuth', 'backends', name, 'type'], message }];
  });
}

/** Headers of clients that leave the gateway: what stands in them is the clients' word. */
export function widePassthrough({ passthroughHeaders = [], backends = [] }: VmcpConfig): Problem[] {
  const remote = backends.filter(({ type }) => type === 'entry').map(({ name }) => name);
  if (passthroughHeaders.length === 0 || remote.length === 0) return [];
  const message = `what clients write there also reaches the remote servers: ${remote.join(', ')}`;
  return [{ path: ['passthroughHeaders'], message }];
}

/** A plugin of the file's own may know callers by tokens. */
function callersHaveTokens({ incomingAuth, plugins = [] }: VmcpConfig): boolean {
  return incomingAuth?.type === 'oidc' || plugins.length > 0;
}

function withoutTokens(place: Problem['path'], use: StrategyConfig): Problem {
  return {
    path: [...place, 'type'],
    message: `${use.type} works with the token that a caller came with, and nobody brings one; set incomingAuth.type: oidc`,
  };
}

/** Credentials in the open: the contract has a place for them, and whoever reads the file has them. */
export function openSecrets(config: VmcpConfig): Problem[] {
  return strategies(config).flatMap(([path, { headerInjection, tokenExchange }]) => [
    ...(isObject(headerInjection) &&
    typeof headerInjection.headerValue === 'string' &&
    CREDENTIAL.test(String(headerInjection.headerName))
      ? [inTheOpen([...path, 'headerInjection', 'headerValue'], 'headerValueEnv')]
      : []),
    ...(isObject(tokenExchange) && typeof tokenExchange.clientSecret === 'string'
      ? [inTheOpen([...path, 'tokenExchange', 'clientSecret'], 'clientSecretEnv')]
      : []),
  ]);
}

function inTheOpen(path: Problem['path'], variable: string): Problem {
  return { path, message: `a credential stands in the file; put it into a variable and name that with ${variable}` };
}

/** Names of headers whose value is a secret as a rule. */
const CREDENTIAL = /authorization|cookie|key|token|secret|password/i;
