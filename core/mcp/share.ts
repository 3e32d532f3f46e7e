import { isIPv6 } from 'node:net';
import type { Call } from '../contract/call.ts';
import type { Caller } from '../contract/caller.ts';

/**
 * Whose share of bounded resources something counts against: the caller with an identity, else the network that the
 * connection comes from. Everybody behind one proxy without an identity is one.
 */
export function shareOf(caller: Caller, remoteAddress: string | undefined): string {
  if (caller.issuer !== '') return caller.key;
  return remoteAddress === undefined ? caller.key : networkOf(remoteAddress);
}

/** Whose share a call counts against: that of its client session, else that of its caller. */
export function shareOfCall({ client, caller, inbound }: Pick<Call, 'client' | 'caller' | 'inbound'>): string {
  return client.owner.share ?? shareOf(caller, inbound?.remoteAddress);
}

/**
 * The network of an address, as far as one party may hold all of it: an IPv4 address, or the first 64 bits of an IPv6 one
 * (RFC 4291 §2.5.4). An IPv4 address inside IPv6 is that address.
 */
export function networkOf(address: string | undefined): string {
  if (address === undefined || !address.includes(':')) return address ?? '';
  return networks.get(address) ?? remember(address, networkOfIPv6(address));
}

function networkOfIPv6(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [plain = ''] = address.split('%', 1); // a zone says which interface of this machine
  if (!isIPv6(plain)) return address;
  const [front = '', back] = plain.split('::');
  const head = front === '' ? [] : front.split(':');
  const tail = back === undefined || back === '' ? [] : back.split(':');
  const groups =
    back === undefined ? head : [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail];
  const first = groups.slice(0, NETWORK_GROUPS).map((group) => Number.parseInt(group, 16).toString(16));
  return `${first.join(':')}::/64`;
}

function remember(address: string, network: string): string {
  if (networks.size >= MAX_KEPT) networks.clear();
  networks.set(address, network);
  return network;
}

/** Worked out once per address: a call asks for it. */
const networks = new Map<string, string>();
const MAX_KEPT = 4096;
const NETWORK_GROUPS = 4;
