import { BlockList, isIP } from 'node:net';

/** The address of the client of a request; `connected` is the other end of its connection. */
export type ClientAddress = (connected: string | undefined, forwardedFor: string | undefined) => string | undefined;

const MAX_HOPS = 32; // entries of `X-Forwarded-For` that are read, from the end

/**
 * Makes the function for a list of reverse proxies, as IP addresses or networks in CIDR notation.
 *
 * Only a listed proxy is believed: of its `X-Forwarded-For`, the last address that is not one of a listed proxy. So a client
 * cannot choose its address, as long as the proxies append to the header. A loopback address in the header is not believed,
 * because it would give a remote client the rights of this machine.
 */
export function createClientAddress(trustedProxies: readonly string[]): ClientAddress {
  if (trustedProxies.length === 0) return (connected) => connected;
  const proxies = new BlockList();
  for (const text of trustedProxies) addTo(proxies, text);
  const isIn = (list: BlockList, address: string): boolean =>
    list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  return (connected, forwardedFor) => {
    if (connected === undefined || forwardedFor === undefined || !isIn(proxies, plain(connected))) return connected;
    let found = connected;
    for (const entry of forwardedFor.split(',').slice(-MAX_HOPS).reverse()) {
      const address = addressIn(entry.trim());
      if (address === undefined || isIn(LOOPBACK, address)) return found;
      found = address;
      if (!isIn(proxies, address)) return found;
    }
    return found;
  };
}

/** Whether a text is an IP address or a network in CIDR notation. */
export function isAddressOrNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 6 ? 128 : 32));
}

function addTo(list: BlockList, text: string): void {
  const [address = '', bits] = text.split('/');
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  if (bits === undefined) list.addAddress(address, family);
  else list.addSubnet(address, Number(bits), family);
}

const LOOPBACK = new BlockList();
for (const network of ['127.0.0.0/8', '::1']) addTo(LOOPBACK, network);

/** An entry of `X-Forwarded-For`: some proxies add the port. */
function addressIn(entry: string): string | undefined {
  const [, ipv6, ipv4] = /^(?:\[([^\]]+)\](?::\d+)?|([\d.]+):\d+)$/.exec(entry) ?? [];
  const address = plain(ipv6 ?? ipv4 ?? entry);
  return isIP(address) === 0 ? undefined : address;
}

/** An IPv4 address that is mapped into IPv6 is the IPv4 address. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '');
}
