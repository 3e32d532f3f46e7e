import { isIP } from 'node:net';
import { notPublic } from '@toolmgr/plugins/kit/safe-http/addresses';
import { type PermissionProfile, plainHost } from '@toolmgr/plugins/kit/workloads/permissions';

/**
 * What a permission profile of a registry asks of this machine and of the networks around it, beyond the internet: one sentence
 * each, which a user confirms before it is used. None for an ordinary profile.
 */
export function profileDemands(profile: PermissionProfile): readonly string[] {
  const { mode, outbound } = profile.network ?? {};
  const inside = (outbound?.allow_host ?? []).filter(mayBePrivate);
  return [
    ...(profile.privileged ? ['all rights of this machine (privileged)'] : []),
    ...(mode === undefined || SAFE_MODES.has(mode) ? [] : [`the network ${JSON.stringify(mode)} of this machine`]),
    ...(inside.length === 0 ? [] : [`connections to ${inside.join(', ')}, which may be in your own network`]),
    ...profile.read.map((mount) => `reading ${JSON.stringify(mount)}`),
    ...profile.write.map((mount) => `writing ${JSON.stringify(mount)}`),
  ];
}

const SAFE_MODES = new Set(['', 'bridge', 'none']);

/** Whether an entry of `allow_host` is an address or network that is not, or not wholly, public. */
function mayBePrivate(entry: string): boolean {
  const [address = '', bits] = entry.split('/');
  const host = plainHost(address);
  const family = isIP(host);
  if (family === 0) return false;
  if (notPublic(host) !== undefined) return true;
  return bits !== undefined && Number(bits) < (family === 4 ? LARGEST_IPV4 : LARGEST_IPV6);
}

/** Shorter prefixes of public addresses may contain special ranges. */
const LARGEST_IPV4 = 24;
const LARGEST_IPV6 = 64;
