import { GatewayFault } from '@toolmgr/core';
import type { Installation } from '@toolmgr/plugins/kit/workloads';
import type { ContainerInfo } from 'dockerode';
import type { Engine } from './engine.ts';
import { MANAGED, OWNER, OWNER_PLACE } from './labels.ts';

/** The containers of a name, by who may remove them. */
export interface OwnedContainers {
  /** Of this installation. */
  readonly own: readonly ContainerInfo[];
  /** Of another one, or it is not known whose they are. They are never changed. */
  readonly others: readonly ContainerInfo[];
}

/** How containers without an owner, of versions before the label, are recognized. */
export interface KnownContainers {
  /** A start of this installation. */
  readonly runId?: string | undefined;
  /** Ids that this installation has noted. */
  readonly ids?: { has(id: string): boolean } | undefined;
}

/**
 * The containers of the workloads of a name, of every installation that uses the engine.
 *
 * One without an owner belongs to this installation when it is `known`, or when it has ended: no gateway uses such a container.
 */
export async function containersOf(
  engine: Engine,
  workload: string,
  known: KnownContainers = {},
): Promise<OwnedContainers> {
  const filters = { label: [`${MANAGED}=true`, `${MANAGED}.name=${workload}`] };
  const [found, owner] = await Promise.all([engine.api.listContainers({ all: true, filters }), engine.owner()]);
  const isOwn = (container: ContainerInfo): boolean => belongsTo(owner, container, known);
  return { own: found.filter(isOwn), others: found.filter((container) => !isOwn(container)) };
}

function belongsTo(owner: Installation, { Id, State, Labels }: ContainerInfo, known: KnownContainers): boolean {
  if (Labels[OWNER] !== undefined) return Labels[OWNER] === owner.id;
  const isOfStart = known.runId !== undefined && Labels[`${MANAGED}.run`] === known.runId;
  return ENDED.has(State) || isOfStart || known.ids?.has(Id) === true;
}

/** States of containers that do not run. */
const ENDED: ReadonlySet<string> = new Set(['created', 'configured', 'exited', 'dead', 'stopped']);

/**
 * Refuses a start when the engine has containers of another installation's workload of this name.
 * @throws GatewayFault WORKLOAD_FAILED that names the installation
 */
export function refuseOthers(workload: string, [first]: readonly ContainerInfo[]): void {
  if (first === undefined) return;
  const why = whoseIs(first.Labels, (first.Names[0] ?? first.Id).replace(/^\//, ''));
  throw new GatewayFault('WORKLOAD_FAILED', `workload ${workload}: ${why}`);
}

/** Whose a container is that a start cannot take, and what helps. */
export function whoseIs(labels: Readonly<Record<string, string>>, container: string): string {
  const place = labels[OWNER_PLACE];
  if (labels[OWNER] !== undefined) {
    return (
      `another installation of toolmgr (${place ?? labels[OWNER]}) has a workload of this name on the same container engine; ` +
      `choose another --name, or remove the workload there (when that installation is gone: remove the container ${container})`
    );
  }
  if (labels[MANAGED] !== undefined) {
    return (
      `the container ${container} runs and was created by an earlier version of toolmgr, which did not note its installation; ` +
      'stop the gateway that uses it, or remove the container, or choose another --name'
    );
  }
  return `the engine has a container named ${container} that toolmgr did not create; choose another --name`;
}
