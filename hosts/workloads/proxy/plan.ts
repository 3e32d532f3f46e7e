import { type PlanInput, present, type StrategyUse } from '@toolmgr/core';
import { durationMs } from '@toolmgr/plugins/kit/settings';
import { type FlagsPart, type RunConfig, servesSse, type WorkloadStart } from '@toolmgr/plugins/kit/workloads';
import { isLoopbackHost, LOOPBACK_NAMES } from '../../http/listen.ts';
import { CALL_TIMEOUT_MS } from '../../shared/call-timeout.ts';
import { defaultOf, inOrder, type PluginUse, partsFromFlags, strategyAddress } from './parts-from-flags.ts';
import { startDeadlineMs } from './start-deadline.ts';

/** Parameters of one start of a workload; defaults are those of a check. */
export interface RunStart extends Partial<Omit<WorkloadStart, 'deadlineMs' | 'env'>> {
  /** Identifies every process of this start. */
  readonly runId: string;
  /** Time for calls in flight at the end, in milliseconds. */
  readonly stopMs?: number;
  /** Variables with secrets of the user. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** Environment variable that identifies the processes of one start, so that orphans of a killed proxy are found. */
export const RUN_ID_VARIABLE = 'TOOLMGR_RUN_ID';

/** The plan of a workload's proxy: a gateway with one backend. Its plugins say themselves what the configuration means for them. */
export async function planFromRun(config: RunConfig, start: RunStart): Promise<PlanInput> {
  const { name, env_vars, remote_url: url, group, transport } = config;
  const deadlineMs = startDeadlineMs(config);
  const parts = await partsFromFlags(config, {
    ...{ state: '', logFile: '', restartsProgram: true, secrets: {}, ...start, deadlineMs },
    env: { ...env_vars, ...start.variables, [RUN_ID_VARIABLE]: start.runId },
  });
  const strategy = config.outgoing_auth ?? firstOf(parts, 'strategy') ?? { type: defaultOf('outgoingAuth.*').type };
  const sessions = config.stateless ? 'shared' : config.sessions; // one with a server without state serves all clients
  const workload = { name, group, transport, ...present({ sessions }), ...firstOf(parts, 'workload') };
  const uses = [
    ...parts.flatMap(({ plugins = [] }) => plugins),
    { use: strategyAddress(strategy.type) },
    { use: 'backend-sources/workloads', with: { workloads: [workload] } },
  ];
  const withCaller = uses.some(isCaller) ? uses : [{ use: defaultOf('incomingAuth').use }, ...uses];
  return {
    name,
    plugins: withOwnPlugins(config, inOrder(withCaller)),
    outgoingAuth: {
      default: parts.reduce<StrategyUse>((inner, part) => part.strategyAround?.(inner) ?? inner, strategy),
    },
    ...present({ sessionStorage: firstOf(parts, 'sessionStorage') }),
    // the client has its own time limit, and that of this hop must not be shorter
    timeouts: { defaultMs: CALL_TIMEOUT_MS },
    endpoint: {
      loopback: isLoopbackHost(config.host),
      strictProtocolVersion: config.strict_protocol_validation,
      ...present({ allowedOrigins: config.allowed_origins }),
      ...allowedHosts(config),
      ...(config.stateless ? { postOnly: true } : {}),
      ...sseOf(config),
    },
    limits: {
      stopMs: start.stopMs ?? STOP_MS,
      sessionIdleMs: durationMs(config.session_ttl) || SESSION_TTL_MS,
      ...(url === undefined ? { firstStartMs: deadlineMs } : {}),
      ...present({ memoryBudgetBytes: config.memory_budget_bytes }),
    },
  };
}

function firstOf<Key extends keyof FlagsPart>(parts: readonly FlagsPart[], key: Key): FlagsPart[Key] {
  return parts.find((part) => part[key] !== undefined)?.[key];
}

/** The plugins of the configuration in place of planned ones with the same address; the others before the caller is known. */
function withOwnPlugins({ plugins = [] }: RunConfig, planned: readonly PluginUse[]): PluginUse[] {
  const own = plugins.map(({ use, with: given }) => ({ use, ...present({ with: given }) }));
  const inPlaceOf = (use: PluginUse) =>
    own.find((other) => other.use === use.use || (isCaller(use) && isCaller(other)));
  const replaced = planned.map((use) => inPlaceOf(use) ?? use);
  const others = own.filter((use) => !replaced.includes(use));
  return [...replaced.slice(0, 1), ...others, ...replaced.slice(1)]; // the first one reads secrets
}

function isCaller({ use }: PluginUse): boolean {
  return use.startsWith('incoming-auth/');
}

/** Names that `network.inbound` of the permission profile allows in `Host`, beside those of this machine. */
function allowedHosts({
  permission_profile: profile,
}: RunConfig): Pick<NonNullable<PlanInput['endpoint']>, 'allowedHosts'> {
  const names = profile?.network?.inbound?.allow_host ?? [];
  return names.length === 0 ? {} : { allowedHosts: [...LOOPBACK_NAMES, ...names] };
}

/** HTTP+SSE for the clients of a server that speaks it, or when the proxy mode is sse. */
function sseOf(config: RunConfig): Pick<NonNullable<PlanInput['endpoint']>, 'sse'> {
  if (!servesSse(config)) return {};
  const { endpoint_prefix: prefix, trust_proxy_headers: trustForwarded } = config;
  return { sse: { trustForwarded, ...(prefix === undefined ? {} : { prefix }) } };
}

const SESSION_TTL_MS = 7_200_000;
const STOP_MS = 5_000;
