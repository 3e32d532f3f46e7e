import { GatewayFault } from '@toolmgr/core';
import type { WorkloadSpec, WorkloadState } from '@toolmgr/plugins/kit/extension-points';
import type { Output } from '@toolmgr/plugins/kit/workloads';
import type { Container } from 'dockerode';
import { createContainer, removeContainers } from './containers.ts';
import type { Engine } from './engine.ts';
import { type NetworkedHandle, SIDECAR_ENDED } from './keep-network.ts';
import { type Lasting, withoutRun } from './lasting-containers.ts';
import type { IsolatedNetwork } from './network/isolate.ts';
import { overlaid } from './overlay-mounts.ts';

/** Name of the launcher in the slot `stdioLaunchers`. */
export const LAUNCHER = 'container';

/** One start of a workload. */
export interface Start {
  readonly engine: Engine;
  readonly spec: WorkloadSpec;
  readonly runId: string;
  readonly output: Output;
}

/** A stdio workload that runs, and the containers of its sessions. */
export interface StdioWorkload {
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

/** Creates the container of one session. @throws GatewayFault WORKLOAD_FAILED */
export async function nextContainer(workload: StdioWorkload | undefined, name: string): Promise<Container> {
  if (workload === undefined) throw new GatewayFault('WORKLOAD_FAILED', `workload ${name} has been stopped`);
  const { engine, spec, runId, isolated, left, lasting, output } = workload;
  for (const container of left) {
    await container.remove({ force: true, v: true }).then(
      () => left.delete(container),
      () => undefined, // the engine is still away; creating fails then
    );
  }
  const isFirst = workload.launches++ === 0 && !lasting?.hasSpared;
  const seen = await overlaid(engine, spec, output.note);
  return createContainer(engine, lasting === undefined ? seen : withoutRun(seen), {
    name: isFirst ? name : `${name}-${runId.slice(0, 8)}-${workload.launches}`,
    ...{ workload: name, group: spec.group, transport: spec.transport, runId },
    role: isFirst ? 'server' : 'session',
    lasting: lasting?.hashFor(seen),
    ...(isolated === undefined ? {} : { isolated }),
  });
}

/** A stdio workload has no container of its own: the gateway starts one per session, as it does with programs. */
export function stdioWorkload(
  { engine, spec, output }: Start,
  isolated: IsolatedNetwork | undefined,
  forget: () => void,
): NetworkedHandle {
  const ended = Promise.withResolvers<WorkloadState>();
  let state: WorkloadState = { name: spec.name, status: 'running', startedAtMs: Date.now(), restarts: 0 };
  let hasLostNetwork = false;
  const leave = async (): Promise<void> => {
    forget();
    await removeContainers(engine, spec.name, {}).catch(() => undefined); // without an engine nothing can be removed
    isolated?.close();
    output.close();
    ended.resolve(state);
  };
  void isolated?.ended.then(async () => {
    if (state.status !== 'running') return;
    hasLostNetwork = true;
    state = { name: spec.name, status: 'error', restarts: 0, message: SIDECAR_ENDED };
    await leave();
  });
  return {
    get state() {
      return state;
    },
    get hasLostNetwork() {
      return hasLostNetwork;
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
