import { createRecord, type WorkloadConfig, workloadName } from '@toolmgr/plugins/workloads/state';
import { isLoopbackHost } from '../http/listen.ts';
import { UsageError } from '../shared/usage-error.ts';
import type { RunFlags } from './options.ts';
import { portProblem } from './ports.ts';
import { readTarget, type Target } from './target.ts';

/**
 * Builds the configuration of a new workload from TARGET, its arguments and the flags; writes and starts nothing.
 * @throws UsageError when TARGET or the flags are invalid; the message says what to do
 */
export async function configFromFlags(
  target: string,
  args: readonly string[],
  flags: RunFlags,
  cwd: string,
  nowMs: number,
): Promise<WorkloadConfig> {
  const read = await readTarget(target, args, cwd);
  if (read.kind === 'refused') throw new UsageError(read.reason);
  const problem = findContradiction(read, flags);
  if (problem !== undefined) throw new UsageError(problem);
  return {
    format: 1,
    name: checkedName('--name', flags.name ?? read.name),
    group: checkedName('--group', flags.group),
    target,
    transport: flags.transport ?? defaultTransport(read),
    ...(read.kind === 'url' ? { url: read.url } : { command: { ...read.command, args: [...read.command.args] } }),
    env: read.kind === 'url' ? {} : { ...read.env, ...flags.env },
    cwd,
    host: flags.host.replace(/^\[(.*)\]$/, '$1'),
    ...(flags.proxyPort === undefined ? {} : { proxyPort: flags.proxyPort }),
    ...(flags.targetPort === undefined ? {} : { targetPort: flags.targetPort }),
    ...(flags.strictProtocolValidation === true ? { strictProtocolValidation: true } : {}),
    ...(flags.startTimeout === undefined ? {} : { startTimeoutMs: flags.startTimeout }),
    createdAtMs: nowMs,
  };
}

/**
 * Writes a new, stopped workload to disk.
 * @throws UsageError when its name or requested port is taken
 */
export async function addWorkload(state: string, config: WorkloadConfig): Promise<void> {
  const { name, host, proxyPort } = config;
  const taken = proxyPort ? await portProblem(state, host, proxyPort, name) : undefined;
  if (taken !== undefined) throw new UsageError(taken);
  if (await createRecord(state, config)) return;
  throw new UsageError(
    `there is a workload ${name} already: start it with toolmgr start ${name}, remove it with toolmgr rm ${name}, or choose another --name`,
  );
}

/** A warning when other machines can reach the endpoint. */
export function exposureWarning({ host }: Pick<WorkloadConfig, 'host'>): string | undefined {
  if (isLoopbackHost(host)) return undefined;
  return `${host} is not a loopback address: everyone who can reach it can use this server`;
}

/** A setting that would have no effect is refused instead of ignored. */
function findContradiction(
  { kind }: Target,
  { transport, targetPort, env, runtime, startTimeout }: RunFlags,
): string | undefined {
  const isHttp = transport === 'sse' || transport === 'streamable-http';
  if (kind === 'url' && transport === 'stdio') return 'a URL has the transport streamable-http or sse, not stdio';
  if (kind === 'url' && Object.keys(env).length > 0) return '--env is for programs: a URL has no environment';
  if (kind === 'url' && runtime !== undefined) return '--runtime is for programs: nothing is started for a URL';
  if (kind === 'url' && targetPort !== undefined) return '--target-port is for programs: a URL has its own port';
  if (kind === 'url' && startTimeout !== undefined)
    return '--start-timeout is for programs: nothing is started for a URL';
  if (kind === 'command' && targetPort !== undefined && !isHttp) {
    return '--target-port needs --transport streamable-http or sse: a stdio program has no port';
  }
  return undefined;
}

function defaultTransport(read: Exclude<Target, { kind: 'refused' }>): WorkloadConfig['transport'] {
  if (read.kind === 'command') return 'stdio';
  return /\/sse\/?$/.test(new URL(read.url).pathname) ? 'sse' : 'streamable-http';
}

function checkedName(flag: string, name: string): string {
  const checked = workloadName.safeParse(name);
  if (checked.success) return checked.data;
  throw new UsageError(`${flag} ${name}: ${checked.error.issues[0]?.message ?? 'is not a valid name'}`);
}
