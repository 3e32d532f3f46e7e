import {
  type PermissionProfile,
  type RunConfig,
  readMounts,
  readProfile,
  volumeText,
} from '@toolmgr/plugins/workloads/state';
import { UsageError } from '../../shared/usage-error.ts';
import type { RunFlags } from '../options/options.ts';

/** The fields of a run configuration that only containers have. */
export type ContainerFields = Pick<
  RunConfig,
  'image' | 'container_labels' | 'volumes' | 'publish' | 'permission_profile' | 'permission_profile_name_or_path'
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
  const { label, network, publish, volume } = flags;
  const given = flags.permissionProfile ?? (ofRegistry === undefined ? 'network' : undefined);
  const read =
    given === undefined && ofRegistry !== undefined ? { profile: ofRegistry } : await readProfile(given ?? 'network');
  if ('reason' in read) throw new UsageError(`--permission-profile: ${read.reason}`);
  const mode = network ?? read.profile.network?.mode;
  checkIsolation(mode, flags, read.profile, warnings);
  const mounts = readMounts(volume ?? [], read.profile, cwd);
  if ('reason' in mounts) throw new UsageError(mounts.reason);
  warnings.push(...mounts.warnings);
  const { read: _, write: __, ...profile } = read.profile;
  return {
    image,
    ...(label === undefined ? {} : { container_labels: labelsOf(label, warnings) }),
    ...(mounts.mounts.length === 0 ? {} : { volumes: mounts.mounts.map(volumeText) }),
    ...(publish === undefined ? {} : { publish: [...publish] }),
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
 * Isolation is the default of the contract and is not available yet, so a container runs without it only when the user
 * says so. `host` and `none` cannot be isolated.
 */
function checkIsolation(
  mode: string | undefined,
  { isolateNetwork: isolate }: RunFlags,
  { network }: PermissionProfile,
  warnings: string[],
): void {
  if (mode === 'none') return;
  if (mode === 'host' && isolate !== true) {
    warnings.push('the container uses the network of this machine: --network host cannot be isolated');
    return;
  }
  if (isolate !== false) {
    throw new UsageError(
      'network isolation is not available yet, and images are isolated by default: add --isolate-network=false to run the ' +
        'container with an ordinary network, or --network none for a stdio server that needs no network',
    );
  }
  const { outbound } = network ?? {};
  if (outbound !== undefined && !outbound.insecure_allow_all) {
    warnings.push('the permission profile limits the network, which has no effect without isolation');
  }
}

/** A label that is not valid is left out, with a warning. */
function labelsOf(labels: Readonly<Record<string, string>>, warnings: string[]): Record<string, string> {
  const good = Object.entries(labels).filter(([key]) => LABEL.test(key));
  for (const key of Object.keys(labels)) {
    if (!LABEL.test(key)) warnings.push(`--label ${key} is not a valid label and is left out`);
  }
  return Object.fromEntries(good);
}
