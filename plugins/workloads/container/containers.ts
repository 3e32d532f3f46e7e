import { setTimeout as delay } from 'node:timers/promises';
import { GatewayFault } from '@toolmgr/core';
import type { WorkloadSpec } from '@toolmgr/plugins/kit/extension-points';
import type { Container, ContainerInfo } from 'dockerode';

import { type ContainerUse, createOptions } from './create-options.ts';
import type { Engine } from './engine.ts';
import { LASTING, MANAGED } from './labels.ts';
import { limitsOf } from './limits.ts';
import { containersOf, type KnownContainers, whoseIs } from './owned.ts';

/** Whether a container that outlives the gateway stays. */
export type Spared = (container: {
  readonly id: string;
  readonly isRunning: boolean;
  readonly hash: string;
}) => boolean;

/** Which containers of a workload are removed. */
export interface Removal {
  readonly keep?: string;
  readonly only?: string;
  readonly spare?: Spared;
  /** How those without an owner are recognized. */
  readonly known?: KnownContainers;
}

/** Docker's answer to a name in use; podman answers 500 and says so in its text. */
const CONFLICT = 409;

const NETWORK_TRIES = 25;
const NETWORK_PAUSE_MS = 200;

/**
 * Creates a container and does not start it.
 * @throws GatewayFault WORKLOAD_FAILED when its name is in use, or the engine refuses what is asked
 */
export async function createContainer(
  engine: Engine,
  spec: WorkloadSpec,
  use: Omit<ContainerUse, 'owner' | 'limits'> & { readonly name: string },
): Promise<Container> {
  const name = containerName(use.name);
  const [owner, limits] = await Promise.all([engine.owner(), limitsOf(engine, spec)]);
  try {
    return await engine.api.createContainer({ name, ...createOptions(spec, { ...use, owner, limits }) });
  } catch (cause) {
    const { statusCode, message } = cause as { readonly statusCode?: number; readonly message?: string };
    const why =
      statusCode === CONFLICT || message?.includes('is already in use by')
        ? whoseIs(await labelsOfNamed(engine, name), name)
        : `the engine did not create the container: ${message}`;
    throw new GatewayFault('WORKLOAD_FAILED', `workload ${spec.name}: ${why}`, { cause });
  }
}

async function labelsOfNamed({ api }: Engine, name: string): Promise<Readonly<Record<string, string>>> {
  const found = await api
    .getContainer(name)
    .inspect()
    .catch(() => undefined); // it was removed meanwhile
  return found?.Config.Labels ?? {};
}

/** The name of a container. Engines refuse names of one character. */
export function containerName(name: string): string {
  return name.length > 1 ? name : `toolmgr-${name}`;
}

/**
 * Removes the containers of a workload of this installation: of the start `only`, or of all but the start `keep`. Those that outlive a
 * gateway belong to every start; `spare` says which of them stay. Repeating it is safe. Resolves with their number.
 */
export async function removeContainers(
  engine: Engine,
  workload: string,
  { keep, only, spare, known }: Removal,
): Promise<number> {
  const { own } = await containersOf(engine, workload, known ?? { runId: only });
  const old = own.filter(({ Id, State, Labels }) => {
    const run = Labels[`${MANAGED}.run`];
    if (Labels[LASTING] !== undefined)
      return spare?.({ id: Id, isRunning: State === 'running', hash: Labels[LASTING] }) !== true;
    return (keep === undefined || run !== keep) && (only === undefined || run === only);
  });
  const isNetwork = ({ Labels }: ContainerInfo) => Labels[`${MANAGED}.role`] === 'network';
  await removeAll(
    engine,
    old.filter((each) => !isNetwork(each)),
  );
  await removeNetworks(engine, old.filter(isNetwork));
  return old.length;
}

/**
 * Podman refuses to remove a container whose network others use. Those are removed first, but the removal of some may be under
 * way elsewhere.
 */
async function removeNetworks(engine: Engine, containers: readonly ContainerInfo[]): Promise<void> {
  for (let left = NETWORK_TRIES; ; left--) {
    try {
      return await removeAll(engine, containers);
    } catch (cause) {
      if (left === 0) throw cause;
      await delay(NETWORK_PAUSE_MS);
    }
  }
}

async function removeAll(engine: Engine, containers: readonly ContainerInfo[]): Promise<void> {
  await Promise.all(
    containers.map(async ({ Id }) => {
      try {
        await engine.api.getContainer(Id).remove({ force: true, v: true });
      } catch (cause) {
        const { statusCode, message } = cause as { readonly statusCode?: number; readonly message?: string };
        if (message?.includes('dependent containers')) throw cause;
        if (statusCode === CONFLICT) await whenRemoved(engine, Id);
        else if (statusCode !== 404) throw cause;
      }
    }),
  );
}

/** Waits for a removal that is under way: until then the name of the container is in use. */
async function whenRemoved(engine: Engine, id: string): Promise<void> {
  for (const endMs = performance.now() + REMOVAL_MS; performance.now() < endMs; ) {
    const isThere = await engine.api
      .getContainer(id)
      .inspect()
      .then(
        () => true,
        () => false,
      );
    if (!isThere) return;
    await delay(REMOVAL_POLL_MS);
  }
}

const REMOVAL_MS = 10_000;
const REMOVAL_POLL_MS = 100;
