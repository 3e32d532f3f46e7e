import { dirname, join } from 'node:path';
import { type PlanInput, type PluginUse, present } from '@toolmgr/core';
import type { ContainerBuild } from '@toolmgr/plugins/kit/extension-points';
import { imageByDigest } from '@toolmgr/plugins/kit/oci';
import { durationMs } from '@toolmgr/plugins/kit/settings';
import { type RunConfig, servesSse, WORKLOAD_FILES } from '@toolmgr/plugins/kit/workloads';
import { readMounts } from '@toolmgr/plugins/kit/workloads/permissions';
import { isSchemeTarget } from '@toolmgr/plugins/kit/workloads/schemes';
import { isLoopbackHost, LOOPBACK_NAMES } from '../../http/listen.ts';
import { CALL_TIMEOUT_MS } from '../../shared/call-timeout.ts';
import { authServerPlugins } from './auth-server-plugin.ts';
import { callerPlugin, outgoingAuth, policyPlugins, storePlugins } from './policy-plugins.ts';
import { startDeadlineMs } from './start-deadline.ts';

/** Parameters of one start of a workload. */
export interface RunStart {
  /** Identifies every process of this start. */
  readonly runId: string;
  /** Folder of the workloads. */
  readonly state?: string;
  /** File for the program's output. */
  readonly logFile: string;
  /** Restarts a program that ends. Default: true. */
  readonly restartsProgram?: boolean;
  /** Time for calls in flight at the end, in milliseconds. */
  readonly stopMs?: number;
  /** Values of the secrets of the workload, by name. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Variables with secrets of the user. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** Environment variable that identifies the processes of one start, so that orphans of a killed proxy are found. */
export const RUN_ID_VARIABLE = 'TOOLMGR_RUN_ID';

/** The plan of a workload's proxy: a gateway with one backend. Pure. */
export function planFromRun(config: RunConfig, start: RunStart): PlanInput {
  const { name } = config;
  const outgoing = outgoingAuth(config, start.state ?? '');
  const isRemote = config.remote_url !== undefined;
  return {
    name,
    plugins: withOwnPlugins(config, [
      { use: 'secrets/environment' },
      ...authServerPlugins(config),
      callerPlugin(config),
      ...outgoing.plugins,
      runtimePlugin(config, start.restartsProgram ?? true),
      { use: 'backend-sources/workloads', with: { workloads: [workloadFrom(config, start)] } },
      ...policyPlugins(config, start.secrets ?? {}),
      ...storePlugins(config),
    ]),
    outgoingAuth: outgoing.outgoingAuth,
    ...(config.scaling_config?.session_redis === undefined ? {} : { sessionStorage: { store: 'redis' } }),
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
      ...(isRemote ? {} : { firstStartMs: startDeadlineMs(config) }),
      ...present({ memoryBudgetBytes: config.memory_budget_bytes }),
    },
  };
}

/** The plugins of the configuration in place of planned ones with the same address; the others before the caller is known. */
function withOwnPlugins({ plugins = [] }: RunConfig, planned: readonly PluginUse[]): PluginUse[] {
  const own = plugins.map(({ use, with: given }) => ({ use, ...(given === undefined ? {} : { with: given }) }));
  const isCaller = ({ use }: PluginUse): boolean => use.startsWith('incoming-auth/');
  const inPlaceOf = (use: PluginUse) =>
    own.find((other) => other.use === use.use || (isCaller(use) && isCaller(other)));
  const replaced = planned.map((use) => inPlaceOf(use) ?? use);
  const [secrets = { use: 'secrets/environment' }, ...rest] = replaced;
  return [secrets, ...own.filter((use) => !replaced.includes(use)), ...rest];
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

function runtimePlugin(config: RunConfig, restartsProgram: boolean): PluginUse {
  if (config.image !== undefined) return { use: 'workloads/container', with: restartSettings(restartsProgram) };
  if (config.remote_url !== undefined) {
    const { remote_addresses: addresses } = config;
    return { use: 'workloads/remote-url', ...(addresses === undefined ? {} : { with: { addresses } }) };
  }
  if (config.pod !== undefined) return { use: 'workloads/kubernetes' };
  return { use: 'workloads/process', with: processSettings(config, restartsProgram) };
}

function workloadFrom(config: RunConfig, { runId, logFile, variables: ofSecrets = {} }: RunStart) {
  const { name, group, transport, remote_url: url, process: program, cmd_args } = config;
  const variables = { ...config.env_vars, ...ofSecrets };
  const shared = { name, group, transport, ...sessionsOf(config) };
  if (config.image !== undefined) {
    return {
      runtime: 'container',
      ...shared,
      container: containerOf(config, config.image),
      env: { ...variables, [RUN_ID_VARIABLE]: runId },
      logFile,
      keepFile: join(dirname(logFile), WORKLOAD_FILES.containers),
      ...(config.target_port === undefined ? {} : { targetPort: config.target_port }),
    };
  }
  if (config.pod !== undefined) return { runtime: 'kubernetes', ...shared, pod: config.pod, logFile };
  if (program === undefined) return { runtime: 'remote-url', ...shared, url };
  return {
    runtime: 'process',
    ...shared,
    ...{ command: { file: program.file, args: [...program.args, ...cmd_args] }, cwd: program.cwd, logFile },
    env: { ...variables, [RUN_ID_VARIABLE]: runId },
    ...present({ targetHost: config.target_host, targetPort: config.target_port }),
  };
}

/** One session with a server without state serves all clients. A container of a pod is one process. */
function sessionsOf({ stateless, sessions, pod }: RunConfig): {
  readonly sessions?: 'perClient' | 'shared' | 'single';
} {
  if (pod !== undefined) return { sessions: 'single' };
  return stateless ? { sessions: 'shared' } : present({ sessions });
}

function containerOf(config: RunConfig, image: string) {
  const { cmd_args, container_labels, image_digest: digest, volumes, publish, permission_profile: profile } = config;
  // the mounts were checked when the workload was made; a folder that has gone is the engine's error
  const read = readMounts(volumes ?? [], { read: [], write: [] }, '/', () => true);
  return {
    image: digest === undefined ? image : imageByDigest(image, digest),
    ...(isSchemeTarget(image) ? { build: buildOf(config) } : {}),
    args: cmd_args,
    labels: container_labels ?? {},
    ...(profile?.network?.mode ? { network: profile.network.mode } : {}),
    ...(config.isolate_network ? { isolation: isolationOf(config) } : {}),
    ...(config.ignore_config === undefined ? {} : { ignore: config.ignore_config }),
    mounts: 'reason' in read ? [] : read.mounts,
    publish: (publish ?? []).map(portsOf),
    privileged: profile?.privileged === true,
    ...present({ limits: config.resource_limits, readOnlyRoot: config.read_only_root }),
  };
}

/** Settings for the image of a package. */
export function buildOf({ runtime_config: runtime = {}, build_ca_cert: caCertFile }: RunConfig): ContainerBuild {
  return present({
    baseImage: runtime.builder_image,
    packages: runtime.additional_packages,
    constraints: runtime.build_with,
    env: runtime.runtime_env,
    caCertFile,
  });
}

function isolationOf({ permission_profile: profile, allow_docker_gateway: allowGateway }: RunConfig) {
  const outbound = profile?.network?.outbound;
  return { ...(outbound === undefined ? {} : { outbound }), allowGateway };
}

function portsOf(text: string): { readonly hostPort?: number; readonly containerPort: number } {
  const [first = 0, second] = text.split(':').map(Number);
  return second === undefined ? { containerPort: first } : { hostPort: first, containerPort: second };
}

function processSettings(config: RunConfig, restartsProgram: boolean) {
  return { firstStartTimeoutMs: startDeadlineMs(config), ...restartSettings(restartsProgram) };
}

function restartSettings(restartsProgram: boolean) {
  return restartsProgram ? {} : { restart: { maxRestarts: 0 } };
}

const SESSION_TTL_MS = 7_200_000;
const STOP_MS = 5_000;
