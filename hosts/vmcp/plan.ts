import type { PlanInput } from '@toolmgr/core';
import { compositeToolsOf } from './composite-tools.ts';
import type { VmcpConfig } from './config-schema.ts';
import { strategyPlugins, strategyUse } from './outgoing-auth.ts';
import { storageAndLimits } from './storage-and-limits.ts';

type Use = PlanInput['plugins'][number];

/** What flags of the command line add to a file. */
export interface PlanFlags {
  /** Idle time of a client session; 0 means the default. */
  readonly sessionTtlMs?: number;
  readonly audit?: boolean;
  /** Secret behind sealed states, the same on all replicas; `TOOLMGR_STATE_KEY`. */
  readonly stateKey?: string;
  /** The address to bind is a loopback one (default). */
  readonly loopback?: boolean;
}

/** The plan of a vmcp file. Pure: the same file and flags give the same plan. */
export function planFromConfig(config: VmcpConfig, flags: PlanFlags = {}): PlanInput {
  const limits = { ...config.limits, ...(flags.sessionTtlMs ? { sessionIdleMs: flags.sessionTtlMs } : {}) };
  const endpoint = { ...config.endpoint, ...(flags.loopback === false ? { loopback: false } : {}) };
  const timeouts = config.operational?.timeouts;
  return {
    name: config.name,
    plugins: withCustomPlugins(pluginsOf(config, flags), config.plugins ?? []),
    outgoingAuth: outgoingAuthOf(config),
    ...(timeouts === undefined ? {} : { timeouts: timeoutsOf(timeouts) }),
    ...(Object.keys(endpoint).length === 0 ? {} : { endpoint }),
    ...(config.passthroughHeaders?.length ? { passthroughHeaders: config.passthroughHeaders } : {}),
    // a store of this process has nothing to tell to others
    ...(config.sessionStorage?.provider === 'redis' ? { sessionStorage: { store: 'redis' } } : {}),
    ...(flags.stateKey === undefined ? {} : { stateKey: flags.stateKey }),
    ...(config.maxToolNameLength === undefined ? {} : { maxToolNameLength: config.maxToolNameLength }),
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
  };
}

/** In the order of one request: who asks, what is decided, how backends are reached, where they come from, names, state, trail. */
function pluginsOf(config: VmcpConfig, flags: PlanFlags): Use[] {
  return [
    { use: 'secrets/environment' },
    ...incomingAuthOf(config),
    ...authorizationOf(config),
    ...strategyPlugins(config).map((use) => ({ use })),
    sourceOf(config),
    { use: 'aggregation', with: config.aggregation },
    ...optimizerOf(config),
    ...storageAndLimits(config),
    ...codeModeOf(config),
    ...compositeToolsOf(config),
    ...healthOf(config),
    ...auditOf(config, flags),
    ...telemetryOf(config),
  ];
}

function incomingAuthOf({ incomingAuth }: VmcpConfig): Use[] {
  if (incomingAuth === undefined) return [];
  const { type, oidc } = incomingAuth;
  return [{ use: `incoming-auth/${type}`, ...(type === 'oidc' ? { with: oidc } : {}) }];
}

function authorizationOf({ incomingAuth }: VmcpConfig): Use[] {
  const { type = 'none', ...settings } = incomingAuth?.authz ?? {};
  return type === 'none' ? [] : [{ use: 'authorization/cedar', with: settings }];
}

/** Listed backends make the set static; without them it is the group's running workloads. */
function sourceOf({ backends, groupRef }: VmcpConfig): Use {
  if (backends === undefined || backends.length === 0)
    return { use: 'backend-sources/group', with: { group: groupRef } };
  return { use: 'backend-sources/static', with: { group: groupRef, backends } };
}

/** The search, what turns texts into vectors where the file names such a thing, and the two tools. */
function optimizerOf({ optimizer }: VmcpConfig): Use[] {
  if (optimizer === undefined) return [];
  const { embeddingProvider = 'tei', embeddingService } = optimizer;
  const embeds = embeddingService !== undefined || embeddingProvider !== 'tei';
  return [
    { use: 'optimizer/search' },
    ...(embeds ? [{ use: `optimizer/embed-${embeddingProvider}` }] : []),
    { use: 'optimizer/tools', with: optimizer },
  ];
}

/** Backends are watched when the file says how; lists are whole by default either way. Source: vmcp spec §2 operational. */
function healthOf({ operational }: VmcpConfig): Use[] {
  const handling = operational?.failureHandling;
  return handling === undefined ? [{ use: 'partial-failure' }] : [{ use: 'health', with: handling }];
}

/** Where scripts run, and the tool that takes them. */
function codeModeOf({ codeMode }: VmcpConfig): Use[] {
  const { enabled = false, ...settings } = codeMode ?? {};
  return enabled ? [{ use: 'code-mode/quickjs' }, { use: 'code-mode/execute-script', with: settings }] : [];
}

/** Lines carry the name of the gateway, unless the file names the component. */
function auditOf({ name, metadata, audit }: VmcpConfig, flags: PlanFlags): Use[] {
  const { enabled = false, ...settings } = audit ?? {};
  if (!enabled && flags.audit !== true) return [];
  const server = metadata === undefined ? {} : { metadata };
  return [{ use: 'audit', with: { component: name, ...server, ...settings } }];
}

/** With everything off it is not loaded: a call pays nothing for it. */
function telemetryOf({ telemetry }: VmcpConfig): Use[] {
  const isOn = telemetry?.tracingEnabled || telemetry?.metricsEnabled || telemetry?.enablePrometheusMetricsPath;
  return isOn ? [{ use: 'telemetry', with: telemetry }] : [];
}

/** `plugins:` replaces what has the same address, where it stands, and adds the rest at the end. */
function withCustomPlugins(planned: readonly Use[], custom: readonly Use[]): Use[] {
  const replaced = planned.map((use) => custom.find((other) => other.use === use.use) ?? use);
  return [...replaced, ...custom.filter((use) => !replaced.includes(use))];
}

function outgoingAuthOf(config: VmcpConfig): NonNullable<PlanInput['outgoingAuth']> {
  const { default: fallback, backends = {} } = config.outgoingAuth;
  return {
    default: strategyUse(fallback ?? { type: 'unauthenticated' }),
    backends: Object.fromEntries(Object.entries(backends).map(([backend, use]) => [backend, strategyUse(use)])),
  };
}

function timeoutsOf(timeouts: NonNullable<NonNullable<VmcpConfig['operational']>['timeouts']>) {
  return {
    ...(timeouts.default === undefined ? {} : { defaultMs: timeouts.default }),
    ...(timeouts.perWorkload === undefined ? {} : { perWorkloadMs: timeouts.perWorkload }),
  };
}
