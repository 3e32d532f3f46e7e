import { isIP } from 'node:net';
import type { PermissionProfile } from '@toolmgr/plugins/kit/workloads/permissions';

/** A permission profile as Kubernetes can enforce it. */
export interface Isolation {
  /** Rules of the NetworkPolicy for outgoing connections; absent: any. */
  readonly egress?: readonly object[];
  readonly hostNetwork?: true;
  readonly privileged?: true;
}

/** The profile in terms of Kubernetes, or what cannot be expressed: then the server must not run with more rights than asked for. */
export function isolationOf(profile: PermissionProfile): Isolation | { readonly problem: string } {
  const problem = PROBLEMS.find(([, isGiven]) => isGiven(profile))?.[0];
  if (problem !== undefined) return { problem };
  const { mode } = profile.network ?? {};
  const privileged = profile.privileged ? ({ privileged: true } as const) : {};
  if (mode === 'host') return { hostNetwork: true, ...privileged };
  const egress = mode === 'none' ? [] : egressOf(profile);
  return { ...(egress === undefined ? {} : { egress }), ...privileged };
}

const MODES = [undefined, '', 'bridge', 'default', 'none', 'host'];

/** What no field of Kubernetes expresses. */
const PROBLEMS: readonly (readonly [string, (profile: PermissionProfile) => boolean])[] = [
  [
    'read and write name paths of a machine that the profile does not choose; use spec.volumes',
    ({ read, write }) => read.length + write.length > 0,
  ],
  ['network.mode must be bridge, none or host', ({ network }) => !MODES.includes(network?.mode)],
  [
    'network.mode host cannot be combined with network.outbound: a NetworkPolicy does not apply to it',
    ({ network }) => network?.mode === 'host' && network.outbound?.insecure_allow_all === false,
  ],
  [
    'network.outbound.allow_host has names; a NetworkPolicy knows only addresses and networks such as 10.1.0.0/16',
    ({ network }) => {
      const { insecure_allow_all: all, allow_host: hosts = [] } = network?.outbound ?? {};
      return !all && hosts.some((host) => blockOf(host) === undefined);
    },
  ],
  [
    'network.inbound has no effect: only the proxy reaches the server',
    ({ network }) => (network?.inbound?.allow_host ?? []).length > 0,
  ],
];

/** An empty list of the two allows all, both empty allow nothing. Without hosts the server may resolve names. */
function egressOf({ network }: PermissionProfile): readonly object[] | undefined {
  const { outbound } = network ?? {};
  if (outbound === undefined || outbound.insecure_allow_all) return undefined;
  const { allow_host: hosts, allow_port: ports } = outbound;
  if (hosts.length === 0 && ports.length === 0) return [];
  const to = hosts.map((host) => ({ ipBlock: { cidr: blockOf(host) } }));
  const allowed = ports.map((port) => ({ port, protocol: 'TCP' }));
  if (hosts.length === 0) return [{ ports: allowed }, NAME_RESOLUTION];
  return [{ to, ...(allowed.length === 0 ? {} : { ports: allowed }) }];
}

const NAME_RESOLUTION = {
  to: [{ namespaceSelector: {}, podSelector: { matchLabels: { 'k8s-app': 'kube-dns' } } }],
  ports: ['UDP', 'TCP'].map((protocol) => ({ port: 53, protocol })),
};

/** An address or network as CIDR; `undefined` for names. */
function blockOf(host: string): string | undefined {
  const [address = '', bits, ...more] = host.split('/');
  const version = isIP(address);
  if (version === 0 || more.length > 0) return undefined;
  const max = version === 4 ? 32 : 128;
  if (bits === undefined) return `${address}/${max}`;
  return /^\d{1,3}$/.test(bits) && Number(bits) <= max ? host : undefined;
}
