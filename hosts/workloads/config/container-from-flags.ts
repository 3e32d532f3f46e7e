import type { RunConfig } from '@toolmgr/plugins/kit/workloads';
import {
  canBeIsolated,
  type PermissionProfile,
  readMounts,
  readProfile,
  volumeText,
} from '@toolmgr/plugins/kit/workloads/permissions';
import { UsageError } from '../../shared/usage-error.ts';
import type { RunFlags } from '../fields/options.ts';

/** The fields of a run configuration that only containers have and that more than one option decides. */
export type ContainerFields = Pick<
  RunConfig,
  | ('image' | 'container_labels' | 'volumes' | 'permission_profile' | 'permission_profile_name_or_path')
  | ('isolate_network' | 'ignore_config')
>;

const LABEL = /^([a-z0-9.-]{1,253}\/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;

/**
 * Reads the options of containers. Mounts become absolute, and the permission profile is read into the configuration; without the
 * option it is that of the registry, else `network`.
 * `warnings` gets one line for each setting that has no effect.
 * @throws UsageError when a file or folder does not exist, or an option contradicts another
 */
export async function containerFromFlags(
  image: string,
  flags: RunFlags,
  cwd: string,
  warnings: string[],
  ofRegistry?: PermissionProfile,
): Promise<ContainerFields> {
  const { label, network, volume } = flags;
  const given = flags.permissionProfile ?? (ofRegistry === undefined ? 'network' : undefined);
  const read =
    given === undefined && ofRegistry !== undefined ? { profile: ofRegistry } : await readProfile(given ?? 'network');
  if ('reason' in read) throw new UsageError(`--permission-profile: ${read.reason}`);
  const mode = network ?? read.profile.network?.mode;
  const isolated = isIsolated(mode, flags, read.profile, warnings);
  const mounts = readMounts(volume ?? [], read.profile, cwd);
  if ('reason' in mounts) throw new UsageError(mounts.reason);
  warnings.push(...mounts.warnings);
  if (isolated) warnings.push(...proxyWarnings(flags));
  const { read: _, write: __, ...profile } = read.profile;
  return {
    image,
    ...(label === undefined ? {} : { container_labels: labelsOf(label, warnings) }),
    ...(mounts.mounts.length === 0 ? {} : { volumes: mounts.mounts.map(volumeText) }),
    isolate_network: isolated,
    ignore_config: { loadGlobal: flags.ignoreGlobally !== false, printOverlays: flags.printResolvedOverlays === true },
    ...(given === undefined ? {} : { permission_profile_name_or_path: given }),
    permission_profile: {
      ...profile,
      read: [],
      write: [],
      network: { ...profile.network, ...(mode === undefined ? {} : { mode }) },
    },
  };
}

/**
 * Whether the network is isolated: by default where it can be. What cannot be isolated runs without isolation, with a warning,
 * unless isolation was asked for by name.
 * @throws UsageError when `--isolate-network` is given for a network that cannot be isolated
 */
function isIsolated(
  mode: string | undefined,
  { isolateNetwork: asked, allowDockerGateway }: RunFlags,
  { network, privileged }: PermissionProfile,
  warnings: string[],
): boolean {
  if (asked === true && !canBeIsolated(mode)) {
    throw new UsageError(`--isolate-network: the network ${mode} cannot be isolated; leave out one of the two`);
  }
  const isolated = asked !== false && canBeIsolated(mode);
  if (isolated) {
    if (privileged) warnings.push('the permission profile is privileged: such a container can leave its isolation');
    return true;
  }
  if (mode === 'host') {
    warnings.push('the container uses the network of this machine: --network host cannot be isolated');
  } else if (mode !== 'none' && asked !== false) {
    warnings.push(`the network of the container is not isolated: --network ${mode} cannot be isolated`);
  }
  const { outbound } = network ?? {};
  if (outbound !== undefined && !outbound.insecure_allow_all && mode !== 'none') {
    warnings.push('the permission profile limits the network, which has no effect without isolation');
  }
  if (allowDockerGateway) {
    throw new UsageError(
      '--allow-docker-gateway needs network isolation: without it the container reaches the gateway of its host anyway',
    );
  }
  return false;
}

/** The proxy of isolation takes the place of proxies that were given. */
function proxyWarnings({ env }: RunFlags): string[] {
  return Object.keys(env)
    .filter((name) => /^(https?|no)_proxy$/i.test(name))
    .map((name) => `--env ${name} has no effect: an isolated container uses the proxy of toolmgr`);
}

/** A label that is not valid is left out, with a warning. */
function labelsOf(labels: Readonly<Record<string, string>>, warnings: string[]): Record<string, string> {
  const good = Object.entries(labels).filter(([key]) => LABEL.test(key));
  for (const key of Object.keys(labels)) {
    if (!LABEL.test(key)) warnings.push(`--label ${key} is not a valid label and is left out`);
  }
  return Object.fromEntries(good);
}
