import { present } from '@toolmgr/core';
import type { ContainerBuild } from './runtimes.ts';
import type { RunConfig } from './state/run-config/run-config.ts';

/** Settings for the image of a package. */
export function buildOf({ runtime_config: runtime = {}, build_ca_cert: caCertFile }: RunConfig): ContainerBuild {
  return present({
    baseImage: runtime.builder_image,
    packages: runtime.additional_packages,
    constraints: runtime.build_with,
    env: runtime.runtime_env,
    caCertFile,
  });
}
