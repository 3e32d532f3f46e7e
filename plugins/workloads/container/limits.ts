import { GatewayFault, present } from '@toolmgr/core';
import type { WorkloadSpec } from '@toolmgr/plugins/kit/extension-points';
import { memoryBytes } from '@toolmgr/plugins/kit/workloads/permissions';
import type { Engine } from './engine.ts';

/** Limits as an engine takes them. */
export interface EngineLimits {
  readonly Memory?: number;
  readonly NanoCpus?: number;
  readonly PidsLimit?: number;
}

/** What an engine can limit. One without rights has some controllers of the kernel only: rootless Podman often lacks `cpu`. */
export interface Limitable {
  readonly memory: boolean;
  readonly cpu: boolean;
  readonly pids: boolean;
  readonly processors: number;
}

/** What a container gets that asks for nothing. */
export const DEFAULT_LIMITS = { memory: '2g', cpus: 2, pids: 1_024 } as const;

/** What a network sidecar gets: it runs a program of toolmgr in 25 MB, and passes the traffic of one workload on. */
const SIDECAR_LIMITS = { memory: '512m', cpus: 2, pids: 64 } as const;

const PER_CPU = 1_000_000_000;

/**
 * The limits of the container of a workload. A default that the engine cannot keep is left out.
 * @throws GatewayFault WORKLOAD_FAILED for a limit that was asked for and that the engine cannot keep
 */
export async function limitsOf(engine: Engine, { name, container }: WorkloadSpec): Promise<EngineLimits> {
  const asked = container?.limits ?? {};
  const can = await limitable(engine);
  const lacking = CONTROLLERS.find(
    ([field, controller]) => Boolean(asked[field]) && asked[field] !== '0' && !can[controller],
  );
  if (lacking !== undefined) {
    const why = `its container cannot have a limit of ${lacking[0]}: the engine has no controller ${lacking[1]} (cgroups)`;
    throw new GatewayFault('WORKLOAD_FAILED', `workload ${name}: ${why}`);
  }
  return engineLimits(can, {
    ...DEFAULT_LIMITS,
    cpus: Math.min(DEFAULT_LIMITS.cpus, can.processors),
    ...present(asked),
  });
}

/** The limits of a network sidecar. */
export async function sidecarLimits(engine: Engine): Promise<EngineLimits> {
  const can = await limitable(engine);
  return engineLimits(can, { ...SIDECAR_LIMITS, cpus: Math.min(SIDECAR_LIMITS.cpus, can.processors) });
}

const CONTROLLERS = [
  ['memory', 'memory'],
  ['cpus', 'cpu'],
  ['pids', 'pids'],
] as const;

function engineLimits(
  can: Limitable,
  { memory, cpus, pids }: { readonly memory: string; readonly cpus: number; readonly pids: number },
): EngineLimits {
  const bytes = memoryBytes(memory) ?? 0;
  return {
    ...(can.memory && bytes > 0 ? { Memory: bytes } : {}),
    ...(can.cpu && cpus > 0 ? { NanoCpus: Math.round(cpus * PER_CPU) } : {}),
    ...(can.pids && pids > 0 ? { PidsLimit: pids } : {}),
  };
}

const known = new WeakMap<Engine, Promise<Limitable>>();

/** Asks the engine once. */
function limitable(engine: Engine): Promise<Limitable> {
  const before = known.get(engine);
  if (before !== undefined) return before;
  const asked = askEngine(engine);
  known.set(engine, asked);
  asked.catch(() => known.delete(engine)); // an engine that is away is asked again
  return asked;
}

async function askEngine({ api, kind }: Engine): Promise<Limitable> {
  const { NCPU, MemoryLimit, CpuCfsQuota, PidsLimit } = await api.info();
  const says = { memory: MemoryLimit !== false, cpu: CpuCfsQuota !== false, pids: PidsLimit !== false };
  const controllers = kind === 'podman' ? await controllersOf(api) : undefined;
  const has = (name: 'memory' | 'cpu' | 'pids'): boolean => says[name] && (controllers?.includes(name) ?? true);
  return { memory: has('memory'), cpu: has('cpu'), pids: has('pids'), processors: NCPU > 0 ? NCPU : 1 };
}

/** The controllers that podman may use, which its imitation of Docker's answer does not tell. */
function controllersOf(api: Engine['api']): Promise<readonly string[] | undefined> {
  const options = { path: '/libpod/info', method: 'GET', statusCodes: { 200: true } };
  return new Promise((resolve) => {
    api.modem.dial(options, (failure, found) => {
      const { host } = (found ?? {}) as { readonly host?: { readonly cgroupControllers?: readonly string[] | null } };
      resolve(failure ? undefined : (host?.cgroupControllers ?? undefined));
    });
  });
}
