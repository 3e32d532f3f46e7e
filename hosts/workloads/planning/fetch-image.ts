import { GatewayFault } from '@toolmgr/core';
import { imageByDigest } from '@toolmgr/plugins/kit/oci';
import type { RunConfig } from '@toolmgr/plugins/kit/workloads';
import { isSchemeTarget } from '@toolmgr/plugins/kit/workloads/schemes';
import { pullImage } from '@toolmgr/plugins/workloads/container';
import { buildImage } from './create.ts';
import type { Work } from './work.ts';

/**
 * Makes sure that the engine has the image of a workload: pulls it, or builds that of a package. Without effect for other
 * workloads.
 * @throws GatewayFault WORKLOAD_FAILED with the reason
 */
export async function fetchImage(config: RunConfig, work: Work): Promise<void> {
  const { image, image_digest: digest } = config;
  if (image === undefined) return;
  if (isSchemeTarget(image)) {
    const problem = await buildImage(config, work);
    if (problem !== undefined) throw new GatewayFault('WORKLOAD_FAILED', problem);
    return;
  }
  const reference = digest === undefined ? image : imageByDigest(image, digest);
  await pullImage(reference, process.env, work.signal, work.report);
}
