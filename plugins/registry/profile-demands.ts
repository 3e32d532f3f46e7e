import type { PermissionProfile } from '../workloads/permissions/profile.ts';

/**
 * What a permission profile of a registry asks of this machine beyond the network: one sentence each, which a user confirms
 * before it is used. None for an ordinary profile.
 */
export function profileDemands(profile: PermissionProfile): readonly string[] {
  const { mode } = profile.network ?? {};
  return [
    ...(profile.privileged ? ['all rights of this machine (privileged)'] : []),
    ...(mode === undefined || SAFE_MODES.has(mode) ? [] : [`the network ${JSON.stringify(mode)} of this machine`]),
    ...profile.read.map((mount) => `reading ${JSON.stringify(mount)}`),
    ...profile.write.map((mount) => `writing ${JSON.stringify(mount)}`),
  ];
}

const SAFE_MODES = new Set(['', 'bridge', 'none']);
