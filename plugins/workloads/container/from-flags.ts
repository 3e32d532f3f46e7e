import { dirname, join } from 'node:path';
import { present } from '@toolmgr/core';
import { imageByDigest } from '@toolmgr/plugins/kit/oci';
import { buildOf, type FromFlags, NO_RESTARTS, type RunConfig, WORKLOAD_FILES } from '@toolmgr/plugins/kit/workloads';
import { readMounts } from '@toolmgr/plugins/kit/workloads/permissions';
import { isSchemeTarget } from '@toolmgr/plugins/kit/workloads/schemes';

/** An image, or a package that is made into one. */
export const fromFlags: FromFlags = {
  plan(config, { restartsProgram, logFile, env }, use) {
    const { image, target_port: targetPort } = config;
    if (image === undefined) return {};
    return {
      plugins: [{ use, with: restartsProgram ? {} : NO_RESTARTS }],
      workload: {
        ...{ runtime: 'container', container: containerOf(config, image), env, logFile },
        keepFile: join(dirname(logFile), WORKLOAD_FILES.containers),
        ...present({ targetPort }),
      },
    };
  },
};

function containerOf(config: RunConfig, image: string) {
  const { cmd_args, container_labels, image_digest: digest, volumes, publish, permission_profile: profile } = config;
  // the mounts were checked when the workload was made; a folder that has gone is the engine's error
  const read = readMounts(volumes ?? [], { read: [], write: [] }, '/', () => true);
  return {
    image: digest === undefined ? image : imageByDigest(image, digest),
    ...(isSchemeTarget(image) ? { build: buildOf(config) } : {}),
    args: cmd_args,
    labels: container_labels ?? {},
    ...(profile?.network?.mode ? { network: profile.network.mode } : {}),
    ...(config.isolate_network ? { isolation: isolationOf(config) } : {}),
    ...(config.ignore_config === undefined ? {} : { ignore: config.ignore_config }),
    mounts: 'reason' in read ? [] : read.mounts,
    publish: (publish ?? []).map(portsOf),
    privileged: profile?.privileged === true,
    ...present({ limits: config.resource_limits, readOnlyRoot: config.read_only_root }),
  };
}

function isolationOf({ permission_profile: profile, allow_docker_gateway: allowGateway }: RunConfig) {
  return { ...present({ outbound: profile?.network?.outbound }), allowGateway };
}

function portsOf(text: string): { readonly hostPort?: number; readonly containerPort: number } {
  const [first = 0, second] = text.split(':').map(Number);
  return second === undefined ? { containerPort: first } : { hostPort: first, containerPort: second };
}
