import { randomUUID } from 'node:crypto';
import {
  explainCause,
  GatewayFault,
  type StdioLauncher,
  type WorkloadHandle,
  type WorkloadRuntime,
  type WorkloadSpec,
  type WorkloadState,
} from '@toolmgr/core';
import type { Container } from 'dockerode';
import type { RestartPolicy } from '../../shared/restart-policy.ts';
import { isSchemeTarget } from '../schemes/scheme-target.ts';
import { createOutput, type Output } from '../state/output.ts';
import { answersHttp } from './answers-http.ts';
import { ensureBuilt } from './build/build-image.ts';
import { planBuild } from './build/plan-build.ts';
import { createContainer, removeContainers } from './containers.ts';
import type { Engine } from './engine.ts';
import { followLogs } from './follow-logs.ts';
import { ensureImage, type LocalImage } from './image.ts';
import { keepContainer } from './keep-container.ts';
import { type Lasting, lastingOf, withoutRun } from './lasting-containers.ts';
import { launchLasting } from './launch-lasting.ts';
import { launchStdio } from './launch-stdio.ts';
import { type IsolatedNetwork, isolateNetwork } from './network/isolate.ts';
import { withOverlays } from './overlay-mounts.ts';
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
  readonly output: Output;
  readonly isolated: IsolatedNetwork | undefined;
  launches: number;
  /** Containers that an absent engine did not remove. */
  readonly left: Set<Container>;
  readonly lasting: Lasting | undefined;
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
      const lasting = lastingOf(at, spec, image.id);
      await removeContainers(at, spec.name, { keep: runId, ...(await lasting?.spared()) });
      const output = createOutput(spec.logFile);
      const start: Start = { engine: at, spec: await hidden(spec, output), runId, output };
      if (spec.transport !== 'stdio') return startServer(start, targetPortOf(spec, image), settings, signal);
      const isolated = await isolatedNetwork(start, undefined, signal);
      stdio.set(spec.name, { ...start, isolated, launches: 0, left: new Set(), lasting });
      return stdioWorkload(start, isolated, () => stdio.delete(spec.name));
    },
  };
  const launch: StdioLauncher = ({ file: name }) => {
    const workload = stdio.get(name);
    const lasting = workload?.lasting;
    if (workload === undefined || lasting === undefined) {
      return launchStdio(
        async () => ({ engine: await engine(), container: await nextContainer(stdio.get(name), name) }),
        (container) => void stdio.get(name)?.left.add(container),
      );
    }
    return launchLasting(async () => lasting.parts(() => nextContainer(stdio.get(name), name)));
  };
  const launcher: StdioLauncher = (command) => {
    const output = stdio.get(command.file)?.output;
    const launched = launch(command);
    launched.stderr?.on('data', (chunk: Buffer) => output?.add(chunk));
    return launched;
  };
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

/** One start of a workload. */
interface Start {
  readonly engine: Engine;
  readonly spec: WorkloadSpec;
  readonly runId: string;
  readonly output: Output;
}

/** Puts empty files and directories over what ignore files hide. */
async function hidden(spec: WorkloadSpec, output: Output): Promise<WorkloadSpec> {
  if (spec.container === undefined) return spec;
  try {
    return { ...spec, container: { ...spec.container, mounts: await withOverlays(spec.container, output.note) } };
  } catch (cause) {
    output.close();
    throw asFault(spec, cause);
  }
}

/** The network of an isolated workload; `undefined` for one that has an ordinary network. */
async function isolatedNetwork(
  { engine, spec, runId, output }: Start,
  targetPort: number | undefined,
  signal: AbortSignal,
): Promise<IsolatedNetwork | undefined> {
  const { isolation, publish = [] } = spec.container ?? {};
  if (isolation === undefined) return undefined;
  const use = { spec, isolation, runId, note: output.note, ...(targetPort === undefined ? {} : { targetPort }) };
  let network: IsolatedNetwork | undefined;
  try {
    network = await isolateNetwork(engine, use, signal);
    for (const { containerPort, hostPort } of publish) {
      const port = await network.publish(containerPort, { hostPort });
      output.note(`port ${containerPort} of the container is published at 127.0.0.1:${port}`);
    }
    return network;
  } catch (cause) {
    network?.close();
    await removeContainers(engine, spec.name, {});
    output.close();
    throw asFault(spec, cause);
  }
}

/** Creates the container of one session. @throws GatewayFault WORKLOAD_FAILED */
async function nextContainer(workload: StdioWorkload | undefined, name: string): Promise<Container> {
  if (workload === undefined) throw new GatewayFault('WORKLOAD_FAILED', `workload ${name} has been stopped`);
  const { engine, spec, runId, isolated, left, lasting } = workload;
  for (const container of left) {
    await container.remove({ force: true, v: true }).then(
      () => left.delete(container),
      () => undefined, // the engine is still away; creating fails then
    );
  }
  const isFirst = workload.launches++ === 0 && !lasting?.hasSpared;
  return createContainer(engine, lasting === undefined ? spec : withoutRun(spec), {
    name: isFirst ? name : `${name}-${runId.slice(0, 8)}-${workload.launches}`,
    ...{ workload: name, group: spec.group, transport: spec.transport, runId },
    role: isFirst ? 'server' : 'session',
    lasting: lasting?.hash,
    ...(isolated === undefined ? {} : { isolated }),
  });
}

/** A stdio workload has no container of its own: the gateway starts one per session, as it does with programs. */
function stdioWorkload(
  { engine, spec, output }: Start,
  isolated: IsolatedNetwork | undefined,
  forget: () => void,
): WorkloadHandle {
  const ended = Promise.withResolvers<WorkloadState>();
  let state: WorkloadState = { name: spec.name, status: 'running', startedAtMs: Date.now(), restarts: 0 };
  const leave = async (): Promise<void> => {
    forget();
    await removeContainers(engine, spec.name, {}).catch(() => undefined); // without an engine nothing can be removed
    isolated?.close();
    output.close();
    ended.resolve(state);
  };
  void isolated?.ended.then(async () => {
    if (state.status !== 'running') return;
    state = { name: spec.name, status: 'error', restarts: 0, message: SIDECAR_ENDED };
    await leave();
  });
  return {
    get state() {
      return state;
    },
    reach: { transport: 'stdio', command: { launcher: LAUNCHER, file: spec.name, args: [] } },
    ended: ended.promise,
    logs: () => output.tail(),
    async stop() {
      state = { name: spec.name, status: 'stopped', restarts: 0 };
      await leave();
    },
  };
}

/** Starts a server with an HTTP transport; resolves when it answers a request. It is started again when it ends. */
async function startServer(
  start: Start,
  targetPort: number,
  settings: ContainerSettings,
  signal: AbortSignal,
): Promise<WorkloadHandle> {
  const { engine, spec, runId, output } = start;
  const isolated = await isolatedNetwork(start, targetPort, signal);
  const leave = async (): Promise<void> => {
    await removeContainers(engine, spec.name, {}).catch(() => undefined); // without an engine nothing can be removed
    isolated?.close();
    output.close();
  };
  let container: Container;
  let url: string;
  try {
    const hostPort = await (isolated?.publish(targetPort, { isMcp: true }) ?? hostPortOf(spec, targetPort));
    url = `http://127.0.0.1:${hostPort}/${spec.transport === 'sse' ? 'sse' : 'mcp'}`;
    const created = await createContainer(engine, spec, {
      ...{ name: spec.name, workload: spec.name, group: spec.group, transport: spec.transport, runId, role: 'server' },
      ...{ targetPort, hostPort },
      ...(isolated === undefined ? {} : { isolated }),
    });
    container = created;
    await created.start();
    followLogs(created, output);
    const isThere = await answersHttp(
      url,
      AbortSignal.any([signal, AbortSignal.timeout(settings.firstStartTimeoutMs)]),
      async () => {
        const { State } = await created.inspect();
        return State.Running;
      },
    );
    if (!isThere) throw fault(spec, `${noAnswer(targetPort)}${lastLines(output.tail())}`);
  } catch (cause) {
    await leave();
    throw asFault(spec, cause);
  }
  const lost = isolated?.ended.then(() => SIDECAR_ENDED);
  const kept = keepContainer({ name: spec.name, container, url, output, settings, leave, lost });
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

const SIDECAR_ENDED = 'its network sidecar ended, so it has no network: start it again';

function asFault(spec: WorkloadSpec, cause: unknown): GatewayFault {
  return cause instanceof GatewayFault ? cause : fault(spec, explainCause(cause), cause);
}

function fault(spec: WorkloadSpec, what: string, cause?: unknown): GatewayFault {
  return new GatewayFault('WORKLOAD_FAILED', `workload ${spec.name}: ${what}`, { cause });
}

function noAnswer(port: number): string {
  return `its server did not answer on port ${port} of the container (--target-port names another port; a server that speaks stdio needs --transport stdio)`;
}

function lastLines(text: string): string {
  return text.trim() === '' ? '' : `; its last output: ${text.trim().split('\n').slice(-5).join(' | ')}`;
}
