import { GatewayFault } from '@toolmgr/core';
import type { WorkloadSpec } from '@toolmgr/plugins/kit/extension-points';
import getPort from 'get-port';

import type { LocalImage } from './image.ts';

const USUAL_PORT = 8080;

/** The port of the server inside: the one that was given, else the only one the image declares, else 8080. */
export function targetPortOf({ targetPort }: WorkloadSpec, { exposedPorts }: LocalImage): number {
  return targetPort ?? (exposedPorts.length === 1 ? exposedPorts[0] : undefined) ?? USUAL_PORT;
}

/**
 * The port of this machine that leads to the server. It is chosen here and not by the engine, which would choose another
 * each time it starts the container again.
 * @throws GatewayFault WORKLOAD_FAILED with the network `none`
 */
export async function hostPortOf({ name, container }: WorkloadSpec, targetPort: number): Promise<number> {
  if (container?.network === 'none') {
    throw new GatewayFault(
      'WORKLOAD_FAILED',
      `workload ${name}: with the network none only stdio servers can be reached`,
    );
  }
  return container?.network === 'host' ? targetPort : getPort({ host: '127.0.0.1' });
}
