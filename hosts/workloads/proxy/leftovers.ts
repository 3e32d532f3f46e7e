import type { RunConfig } from '@toolmgr/plugins/kit/workloads';
import { removeContainersOf } from '@toolmgr/plugins/workloads/container';
import { sweepOrphans } from './sweep-orphans.ts';

/**
 * Removes the containers, or ends the processes, that the start `runId` of a workload left; without `runId` those of every
 * start. Resolves with their number.
 *
 * With `leavesLasting` containers that outlive a proxy stay. Containers are removed first: the engine would start a container again whose process was ended.
 * @throws GatewayFault when the workload is an image and no container engine answers
 */
export async function removeLeftovers(
  config: Pick<RunConfig, 'name' | 'image'> | undefined,
  runId: string | undefined,
  options: { readonly leavesLasting?: boolean } = {},
): Promise<number> {
  let removed = 0;
  if (config?.image !== undefined) {
    removed = await removeContainersOf(config.name, runId, { env: process.env, ...options });
  }
  return removed + (runId === undefined ? 0 : await sweepOrphans(runId));
}
