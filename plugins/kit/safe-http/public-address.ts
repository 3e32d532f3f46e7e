import ipaddr from 'ipaddr.js';

const MAX_DEPTH = 2; // an IPv4 address inside an IPv6 address

/**
 * Why an IP address is not public, e.g. `a loopback address`; `undefined` when it is public.
 *
 * IPv6 addresses that carry an IPv4 address (mapped, translated, NAT64, 6to4) are checked by that address; every other
 * IPv6 address outside 2000::/3 is refused, so that ranges reserved later are refused too.
 * Source: the special-purpose address registries of IANA (RFC 6890), RFC 4291 §2.4.
 */
export function notPublic(address: string, depth = 0): string | undefined {
  if (!ipaddr.isValid(address) || depth >= MAX_DEPTH) return 'no address';
  const parsed = ipaddr.parse(address.replace(/%.*$/, '')); // without the zone
  if (parsed.kind() === 'ipv4') return DESCRIPTIONS[parsed.range()] ?? descriptionOfOther(parsed.range());
  const six = parsed as ipaddr.IPv6;
  const inner = innerIpv4(six);
  if (inner !== undefined) return notPublic(inner, depth + 1);
  const description = DESCRIPTIONS[six.range()] ?? descriptionOfOther(six.range());
  return description ?? (isGlobalUnicast(six) ? undefined : 'a reserved address');
}

/** The description of loopback addresses. */
export const LOOPBACK = 'a loopback address';

/** Descriptions for the ranges of ipaddr.js; other ranges are reserved, except unicast. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  loopback: LOOPBACK,
  private: 'a private address',
  uniqueLocal: 'a private address',
  linkLocal: 'a link-local address',
  carrierGradeNat: 'a private address',
  unspecified: 'an unspecified address',
  multicast: 'a multicast address',
  broadcast: 'a broadcast address',
};

function descriptionOfOther(range: string): string | undefined {
  return range === 'unicast' ? undefined : 'a reserved address';
}

/** The embedded IPv4 address, for forms that networks route to it. */
function innerIpv4(six: ipaddr.IPv6): string | undefined {
  const bytes = six.toByteArray();
  const start = INNER_AT[six.range()];
  if (start === undefined || six.match(LOCAL_NAT64, 48)) return undefined;
  return bytes.slice(start, start + 4).join('.');
}

const INNER_AT: Readonly<Record<string, number>> = { ipv4Mapped: 12, rfc6145: 12, rfc6052: 12, '6to4': 2 };
const LOCAL_NAT64 = ipaddr.IPv6.parse('64:ff9b:1::'); // RFC 8215: the position of the IPv4 address is not defined

const GLOBAL_UNICAST = ipaddr.IPv6.parse('2000::');

function isGlobalUnicast(six: ipaddr.IPv6): boolean {
  return six.match(GLOBAL_UNICAST, 3);
}
