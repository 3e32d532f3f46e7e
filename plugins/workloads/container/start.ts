import { randomUUID } from 'node:crypto';
import {
  GatewayFault,
  type StdioLauncher,
  type WorkloadHandle,
  type WorkloadRuntime,
  type WorkloadSpec,
  type WorkloadState,
} from '@toolmgr/core';
import type { RestartPolicy } from '../../shared/restart-policy.ts';
import { isSchemeTarget } from '../schemes/scheme-target.ts';
import { createOutput } from '../state/output.ts';
import { answersHttp } from './answers-http.ts';
import { ensureBuilt } from './build/build-image.ts';
import { planBuild } from './build/plan-build.ts';
import { createContainer, removeContainers } from './containers.ts';
import type { Engine } from './engine.ts';
import { followLogs } from './follow-logs.ts';
import { ensureImage, type LocalImage } from './image.ts';
import { keepContainer } from './keep-container.ts';
import { launchStdio } from './launch-stdio.ts';
import { hostPortOf, targetPortOf } from './ports.ts';

/** Settings of the runtime. */
export interface ContainerSettings {
  /** Time for the first start of a server, in milliseconds; pulling its image is not part of it. */
  readonly firstStartTimeoutMs: number;
  /** The same for a server that is started again. */
  readonly startTimeoutMs: number;
  readonly restart: RestartPolicy;
}

/** The container runtime and what starts the containers of stdio servers. */
export interface ContainerRuntime {
  readonly runtime: WorkloadRuntime;
  readonly launcher: StdioLauncher;
}

/** Name of the launcher in the slot `stdioLaunchers`. */
export const LAUNCHER = 'container';

/** Variable that marks what one start of a workload creates. */
const RUN_ID = 'TOOLMGR_RUN_ID';

interface StdioWorkload {
  readonly engine: Engine;
  readonly spec: WorkloadSpec;
  readonly runId: string;
  launches: number;
}

/** Runs workloads as containers of the engine that `connect` finds; it is asked when the first workload starts. */
export function createContainerRuntime(connect: () => Promise<Engine>, settings: ContainerSettings): ContainerRuntime {
  const stdio = new Map<string, StdioWorkload>();
  let found: Promise<Engine> | undefined;
  const engine = (): Promise<Engine> => {
    found ??= connect().catch((cause: unknown) => {
      found = undefined; // an engine that is started later is found then
      throw cause;
    });
    return found;
  };
  const runtime: WorkloadRuntime = {
    async start(given, signal) {
      const at = await engine();
      const { spec, image } = await withImage(at, given, signal);
      const runId = spec.env[RUN_ID] ?? randomUUID();
      await removeContainers(at, spec.name, { keep: runId });
      if (spec.transport !== 'stdio') return startServer(at, spec, runId, targetPortOf(spec, image), settings, signal);
      stdio.set(spec.name, { engine: at, spec, runId, launches: 0 });
      return stdioWorkload(at, spec, () => stdio.delete(spec.name));
    },
  };
  const launcher: StdioLauncher = ({ file: name }) =>
    launchStdio(async () => {
      const workload = stdio.get(name);
      if (workload === undefined) throw new GatewayFault('WORKLOAD_FAILED', `workload ${name} has been stopped`);
      const { spec, runId } = workload;
      const isFirst = workload.launches++ === 0;
      const identity = { workload: name, group: spec.group, transport: spec.transport, runId } as const;
      const called = isFirst ? name : `${name}-${runId.slice(0, 8)}-${workload.launches}`;
      const container = await createContainer(workload.engine, spec, {
        name: called,
        ...identity,
        role: isFirst ? 'server' : 'session',
      });
      return { engine: workload.engine, container };
    });
  return { runtime, launcher };
}

/** The image of a workload; that of a package is built when the engine does not have it, and named in the result. */
async function withImage(
  engine: Engine,
  spec: WorkloadSpec,
  signal: AbortSignal,
): Promise<{ readonly spec: WorkloadSpec; readonly image: LocalImage }> {
  const { container } = spec;
  if (container === undefined) throw fault(spec, 'the container runtime needs an image');
  if (!isSchemeTarget(container.image)) {
    return { spec, image: await ensureImage(engine, container.image, signal) };
  }
  const plan = await planBuild(container.image, container.build ?? {}, { cwd: '/', env: process.env });
  if ('reason' in plan) throw fault(spec, plan.reason);
  const output = createOutput(spec.logFile);
  try {
    await ensureBuilt(engine, plan, { signal, onLine: (line) => output.add(Buffer.from(`${line}\n`)) });
  } finally {
    output.close();
  }
  return {
    spec: { ...spec, container: { ...container, image: plan.tag } },
    image: await ensureImage(engine, plan.tag, signal),
  };
}

/** A stdio workload has no container of its own: the gateway starts one per session, as it does with programs. */
function stdioWorkload(engine: Engine, spec: WorkloadSpec, forget: () => void): WorkloadHandle {
  const ended = Promise.withResolvers<WorkloadState>();
  let state: WorkloadState = { name: spec.name, status: 'running', startedAtMs: Date.now(), restarts: 0 };
  return {
    get state() {
      return state;
    },
    reach: { transport: 'stdio', command: { launcher: LAUNCHER, file: spec.name, args: [] } },
    ended: ended.promise,
    logs: () => '',
    async stop() {
      forget();
      await removeContainers(engine, spec.name, {});
      state = { name: spec.name, status: 'stopped', restarts: 0 };
      ended.resolve(state);
    },
  };
}

/** Starts a server with an HTTP transport; resolves when it answers a request. It is started again when it ends. */
async function startServer(
  engine: Engine,
  spec: WorkloadSpec,
  runId: string,
  targetPort: number,
  settings: ContainerSettings,
  signal: AbortSignal,
): Promise<WorkloadHandle> {
  const hostPort = await hostPortOf(spec, targetPort);
  const container = await createContainer(engine, spec, {
    ...{ name: spec.name, workload: spec.name, group: spec.group, transport: spec.transport, runId, role: 'server' },
    ...{ targetPort, hostPort },
  });
  const output = createOutput(spec.logFile);
  const leave = async (): Promise<void> => {
    await removeContainers(engine, spec.name, {});
    output.close();
  };
  const url = `http://127.0.0.1:${hostPort}/${spec.transport === 'sse' ? 'sse' : 'mcp'}`;
  try {
    await container.start();
    followLogs(container, output);
    const isThere = await answersHttp(
      url,
      AbortSignal.any([signal, AbortSignal.timeout(settings.firstStartTimeoutMs)]),
      async () => {
        const { State } = await container.inspect();
        return State.Running;
      },
    );
    if (!isThere)
      throw fault(spec, `its server did not answer on port ${targetPort} of the container${lastLines(output.tail())}`);
  } catch (cause) {
    await leave();
    if (cause instanceof GatewayFault) throw cause;
    throw fault(spec, cause instanceof Error ? cause.message : String(cause), cause);
  }
  const kept = keepContainer({ name: spec.name, container, url, output, settings, leave });
  return {
    get state() {
      return kept.state;
    },
    reach: { transport: spec.transport, url },
    ended: kept.ended,
    logs: () => output.tail(),
    stop: kept.stop,
  };
}

function fault(spec: WorkloadSpec, what: string, cause?: unknown): GatewayFault {
  return new GatewayFault('WORKLOAD_FAILED', `workload ${spec.name}: ${what}`, { cause });
}

function lastLines(text: string): string {
  return text.trim() === '' ? '' : `; its last output: ${text.trim().split('\n').slice(-5).join(' | ')}`;
}
