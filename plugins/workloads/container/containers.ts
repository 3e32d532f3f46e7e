import { GatewayFault, type WorkloadSpec } from '@toolmgr/core';
import type { Container } from 'dockerode';
import { type ContainerUse, createOptions } from './create-options.ts';
import type { Engine } from './engine.ts';
import { MANAGED } from './labels.ts';

/** Docker's answer to a name in use; podman answers 500 and says so in its text. */
const CONFLICT = 409;

/**
 * Creates a container and does not start it.
 * @throws GatewayFault WORKLOAD_FAILED when its name is in use, or the engine refuses what is asked
 */
export async function createContainer(
  engine: Engine,
  spec: WorkloadSpec,
  use: ContainerUse & { readonly name: string },
): Promise<Container> {
  try {
    return await engine.api.createContainer({ name: use.name, ...createOptions(spec, use) });
  } catch (cause) {
    const { statusCode, message } = cause as { readonly statusCode?: number; readonly message?: string };
    const why =
      statusCode === CONFLICT || message?.includes('is already in use by')
        ? `the engine has a container named ${use.name} that toolmgr did not create; choose another --name`
        : `the engine did not create the container: ${message}`;
    throw new GatewayFault('WORKLOAD_FAILED', `workload ${spec.name}: ${why}`, { cause });
  }
}

/** Removes the containers of a workload, but not those of the start `keep`. Repeating it is safe. */
export async function removeContainers(
  engine: Engine,
  workload: string,
  { keep }: { readonly keep?: string },
): Promise<void> {
  const filters = { label: [`${MANAGED}=true`, `${MANAGED}.name=${workload}`] };
  const found = await engine.api.listContainers({ all: true, filters });
  const old = found.filter(({ Labels }) => keep === undefined || Labels[`${MANAGED}.run`] !== keep);
  await Promise.all(
    old.map(async ({ Id }) => {
      try {
        await engine.api.getContainer(Id).remove({ force: true, v: true });
      } catch (cause) {
        const { statusCode } = cause as { readonly statusCode?: number };
        // it went meanwhile, or its removal is under way
        if (statusCode !== 404 && statusCode !== CONFLICT) throw cause;
      }
    }),
  );
}
