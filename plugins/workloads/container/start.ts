import { randomUUID } from 'node:crypto';
import { explainCause, GatewayFault, type StdioLauncher } from '@toolmgr/core';
import type { WorkloadRuntime, WorkloadSpec } from '@toolmgr/plugins/kit/extension-points';
import { wholeLines } from '@toolmgr/plugins/kit/files';
import { createOutput, type RestartPolicy } from '@toolmgr/plugins/kit/workloads';
import { isSchemeTarget } from '@toolmgr/plugins/kit/workloads/schemes';
import type { Container } from 'dockerode';
import { answersHttp } from './answers-http.ts';
import { ensureBuilt } from './build/build-image.ts';
import { planBuild } from './build/plan-build.ts';
import { createContainer, removeContainers } from './containers.ts';
import type { Engine } from './engine.ts';
import { followLogs } from './follow-logs.ts';
import { ensureImage, type LocalImage } from './image.ts';
import { type KeptContainer, keepContainer } from './keep-container.ts';
import { keepNetwork, type NetworkedHandle, SIDECAR_ENDED } from './keep-network.ts';
import { lastingOf } from './lasting-containers.ts';
import { lastingSessions } from './lasting-sessions.ts';
import { launchLasting } from './launch-lasting.ts';
import { launchStdio } from './launch-stdio.ts';
import { type IsolatedNetwork, isolateNetwork } from './network/isolate.ts';
import { overlaid } from './overlay-mounts.ts';
import { containersOf, type KnownContainers, refuseOthers } from './owned.ts';
import { hostPortOf, targetPortOf } from './ports.ts';
import { nextContainer, type Start, type StdioWorkload, stdioWorkload } from './stdio-workload.ts';

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

/** Variable that marks what one start of a workload creates. */
const RUN_ID = 'TOOLMGR_RUN_ID';

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
      const known = await knownOf(given);
      // before an image is pulled or built
      refuseOthers(given.name, (await containersOf(at, given.name, known)).others);
      const { spec, image } = await withImage(at, given, signal);
      const runId = spec.env[RUN_ID] ?? randomUUID();
      const lasting = await lastingOf(at, spec, image.id);
      await removeContainers(at, spec.name, { keep: runId, known, ...(await lasting?.spared()) });
      const output = createOutput(spec.logFile);
      const start: Start = { engine: at, spec, runId, output };
      const open = async (at: Start, until: AbortSignal, hostPort?: number): Promise<NetworkedHandle> => {
        if (spec.transport !== 'stdio') return startServer(at, targetPortOf(spec, image), settings, until, hostPort);
        const isolated = await isolatedNetwork(at, undefined, until);
        stdio.set(spec.name, { ...at, isolated, launches: 0, left: new Set(), lasting });
        return stdioWorkload(at, isolated, () => stdio.delete(spec.name));
      };
      const first = await open(start, signal);
      if (spec.container?.isolation === undefined) return first;
      const hostPort = first.reach.url === undefined ? undefined : Number(new URL(first.reach.url).port);
      return keepNetwork(first, {
        ...{ name: spec.name, engine: at, restart: settings.restart },
        async again(until) {
          await removeContainers(at, spec.name, {});
          const again = { ...start, output: createOutput(spec.logFile) };
          again.output.note(`[toolmgr] ${SIDECAR_ENDED}; starting it again`);
          return open(again, until, hostPort);
        },
      });
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
    const lines = wholeLines((part) => output?.add(part));
    launched.stderr?.on('data', (chunk: Buffer) => lines.add(chunk));
    launched.stderr?.once('close', () => lines.end());
    return launched;
  };
  return { runtime, launcher };
}

/** How containers that an earlier version created are recognized. */
async function knownOf({ env, keepFile }: WorkloadSpec): Promise<KnownContainers> {
  return { runId: env[RUN_ID], ids: keepFile === undefined ? undefined : await lastingSessions(keepFile).read() };
}

/** The image of a workload; that of a package is built when the engine does not have it, and named in the result. */
async function withImage(
  engine: Engine,
  spec: WorkloadSpec,
  signal: AbortSignal,
): Promise<{ readonly spec: WorkloadSpec; readonly image: LocalImage }> {
  const { container } = spec;
  if (container === undefined) throw fault(spec, 'the container runtime needs an image');
  let reference = container.image;
  if (isSchemeTarget(reference)) {
    const plan = await planBuild(reference, container.build ?? {}, { cwd: '/', env: engine.env });
    if ('reason' in plan) throw fault(spec, plan.reason);
    const output = createOutput(spec.logFile);
    try {
      await ensureBuilt(engine, plan, { signal, onLine: (line) => output.add(Buffer.from(`${line}\n`)) });
    } finally {
      output.close();
    }
    reference = plan.tag;
  }
  const image = await ensureImage(engine, reference, signal);
  const { readOnlyRoot = image.hasReadOnlyRoot } = container;
  return { spec: { ...spec, container: { ...container, image: reference, readOnlyRoot } }, image };
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

/**
 * Starts a server with an HTTP transport; resolves when it answers a request. It is started again when it ends. `samePort`: the
 * port of this machine at which it was reached before.
 */
async function startServer(
  start: Start,
  targetPort: number,
  settings: ContainerSettings,
  signal: AbortSignal,
  samePort?: number,
): Promise<NetworkedHandle> {
  const { engine, spec, runId, output } = start;
  const isolated = await isolatedNetwork(start, targetPort, signal);
  const leave = async (): Promise<void> => {
    await removeContainers(engine, spec.name, {}).catch(() => undefined); // without an engine nothing can be removed
    isolated?.close();
    output.close();
  };
  let container: Container;
  let url: string;
  let followed: Promise<void>;
  let renew: KeptContainer['renew'];
  try {
    const hostPort = await (isolated?.publish(targetPort, { isMcp: true, hostPort: samePort }) ??
      hostPortOf(spec, targetPort));
    url = `http://127.0.0.1:${hostPort}/${spec.transport === 'sse' ? 'sse' : 'mcp'}`;
    const use = {
      ...{
        name: spec.name,
        workload: spec.name,
        group: spec.group,
        transport: spec.transport,
        runId,
        role: 'server' as const,
      },
      ...{ targetPort, hostPort },
      ...(isolated === undefined ? {} : { isolated }),
    };
    let seen = await overlaid(engine, spec, output.note);
    const created = await createContainer(engine, seen, use);
    renew = async (old) => {
      const now = await overlaid(engine, spec, output.note);
      if (JSON.stringify(now) === JSON.stringify(seen)) return old;
      await old.remove({ force: true, v: true });
      seen = now;
      return createContainer(engine, now, use);
    };
    container = created;
    await created.start();
    followed = followLogs(created, output);
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
  let hasLostNetwork = false;
  const lost = isolated?.ended.then(() => {
    hasLostNetwork = true;
    return SIDECAR_ENDED;
  });
  const kept = keepContainer({ name: spec.name, container, url, output, followed, settings, renew, leave, lost });
  return {
    get state() {
      return kept.state;
    },
    get hasLostNetwork() {
      return hasLostNetwork;
    },
    reach: { transport: spec.transport, url },
    ended: kept.ended,
    logs: () => output.tail(),
    stop: kept.stop,
  };
}

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
