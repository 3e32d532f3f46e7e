import { type LookupAddress, lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import type { AllowedAddresses } from '../contract/backend.ts';

/** A name or an address leads where connections are not allowed. */
export class ForbiddenAddress extends Error {
  readonly code = 'ADDRESS_FORBIDDEN';
}

/** Whether connections to an address are refused. Names are not: {@link guardedLookup} checks their addresses. */
export function isForbidden(address: string, allowed: AllowedAddresses): boolean {
  const family = isIP(address);
  if (family === 0) return false;
  const groups = family === 6 ? groupsOf(address) : undefined;
  const inner = groups === undefined ? address : innerIpv4(groups);
  if (inner !== undefined) return LOCAL.check(inner) || (allowed === 'public' && SPECIAL.check(inner));
  const six = groups?.map((group) => group.toString(16)).join(':') ?? '';
  if (LOCAL.check(six, 'ipv6')) return true;
  return allowed === 'public' && (!GLOBAL.check(six, 'ipv6') || SPECIAL.check(six, 'ipv6'));
}

/** Resolves names when a connection is made, and refuses a name when one of its addresses is refused: DNS rebinding has no effect. */
export function guardedLookup(allowed: AllowedAddresses, resolve = lookup as LookupFunction): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, options, (error, found, family) => {
      if (error !== null) return callback(error, found, family);
      const addresses = Array.isArray(found) ? found.map(({ address }: LookupAddress) => address) : [found];
      const refused = addresses.find((address) => isForbidden(address, allowed));
      if (refused === undefined) return callback(null, found, family);
      callback(new ForbiddenAddress(`${hostname} leads to ${refused}, which is not allowed`), found, family);
    });
  };
}

/** The eight groups of an IPv6 address without its zone. */
function groupsOf(address: string): readonly number[] {
  const { hostname } = new URL(`http://[${address.replace(/%.*$/, '')}]`); // writes IPv4 parts as groups
  const [head = '', tail] = hostname.slice(1, -1).split('::');
  const numbers = (text: string): number[] =>
    text === '' ? [] : text.split(':').map((each) => Number.parseInt(each, 16));
  if (tail === undefined) return numbers(head);
  const [first, last] = [numbers(head), numbers(tail)];
  return [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last];
}

/** The IPv4 address that networks route an IPv6 address to: mapped, translated (SIIT), NAT64 and 6to4. */
function innerIpv4(groups: readonly number[]): string | undefined {
  const starts = (...prefix: readonly number[]): boolean => prefix.every((group, at) => groups[at] === group);
  const isAtEnd = starts(0, 0, 0, 0, 0, 0xffff) || starts(0, 0, 0, 0, 0xffff, 0) || starts(0x64, 0xff9b, 0, 0, 0, 0);
  if (!isAtEnd && !starts(0x2002)) return undefined;
  const [high = 0, low = 0] = isAtEnd ? groups.slice(6) : groups.slice(1, 3);
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** This machine, its link, and the metadata services outside it: Alibaba Cloud, Azure, Amazon EC2 over IPv6. */
const LOCAL = blockList([
  ...['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '100.100.100.200/32', '168.63.129.16/32'],
  ...['::/127', 'fe80::/10', 'fd00:ec2::254/128'],
]);
const GLOBAL = blockList(['2000::/3']);
/** Source: the special-purpose address registries of IANA (RFC 6890). */
const SPECIAL = blockList([
  ...['10.0.0.0/8', '100.64.0.0/10', '172.16.0.0/12', '192.0.0.0/24', '192.0.2.0/24', '192.31.196.0/24'],
  ...['192.52.193.0/24', '192.88.99.0/24', '192.168.0.0/16', '192.175.48.0/24', '198.18.0.0/15', '198.51.100.0/24'],
  ...['203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4', '2001::/23', '2001:db8::/32', '2620:4f:8000::/48', '3fff::/20'],
]);

function blockList(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = '', bits] = range.split('/');
    list.addSubnet(network, Number(bits), isIP(network) === 6 ? 'ipv6' : 'ipv4');
  }
  return list;
}
