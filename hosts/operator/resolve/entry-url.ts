import { BlockList } from 'node:net';
import { notPublic } from '@toolmgr/plugins/kit/safe-http/addresses';

/** What an MCPServerEntry says about its address. */
export interface EntryAddress {
  readonly remoteUrl: string;
  readonly allowPrivateEndpoint?: boolean | undefined;
}

/**
 * Why the URL of a remote server is refused; `undefined` when it is allowed. Names are not resolved.
 *
 * This machine, link-local addresses, metadata services and the API server are always refused; private addresses and names of services in a cluster
 * unless `allowPrivateEndpoint` is set.
 */
export function entryUrlProblem({ remoteUrl, allowPrivateEndpoint = false }: EntryAddress): string | undefined {
  const url = URL.parse(remoteUrl);
  if (url === null || !/^https?:\/\//i.test(remoteUrl)) return 'expected an http or https URL';
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or a password';
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.+$/, '');
  const found = isAddress(host) ? kindOfAddress(host) : kindOfName(host);
  if (found === undefined) return undefined;
  if (found.isNeverAllowed) return `leads to ${found.what}, which is not allowed`;
  return allowPrivateEndpoint ? undefined : `leads to ${found.what} (allowPrivateEndpoint allows it)`;
}

interface Found {
  readonly what: string;
  readonly isNeverAllowed: boolean;
}

/** WHATWG URLs write IPv4 addresses in dotted decimal and IPv6 addresses with colons. */
function isAddress(host: string): boolean {
  return host.includes(':') || /^\d+(?:\.\d+){3}$/.test(host);
}

function kindOfAddress(host: string): Found | undefined {
  if (METADATA.check(host, host.includes(':') ? 'ipv6' : 'ipv4'))
    return { what: 'a metadata service', isNeverAllowed: true };
  const what = notPublic(host);
  return what === undefined ? undefined : { what, isNeverAllowed: NEVER_ALLOWED.has(what) };
}

/** Metadata services outside link-local addresses: Amazon EC2 over IPv6, Alibaba Cloud, Azure. */
const METADATA = new BlockList();
METADATA.addAddress('fd00:ec2::254', 'ipv6');
for (const address of ['100.100.100.200', '168.63.129.16']) METADATA.addAddress(address);

const NEVER_ALLOWED: ReadonlySet<string> = new Set([
  'a loopback address',
  'a link-local address',
  'an unspecified address',
  'no address',
]);

function kindOfName(host: string): Found | undefined {
  if (FORBIDDEN_NAME.test(host)) return { what: host, isNeverAllowed: true };
  const isOfCluster = !host.includes('.') || /\.svc$|\.cluster\.local$/.test(host);
  return isOfCluster ? { what: 'a service of the cluster', isNeverAllowed: false } : undefined;
}

const FORBIDDEN_NAME =
  /^(?:(?:.*\.)?localhost(?:\.localdomain)?|ip6-(?:localhost|loopback)|kubernetes|kubernetes\.default(?:\.svc(?:\..+)?)?|(?:.*\.)?metadata\.google\.internal|instance-data(?:\.ec2\.internal)?)$/;
