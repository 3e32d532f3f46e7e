import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { notPublic } from './public-address.ts';

/** Whether the host of a URL has only addresses that are not public. A name that cannot be resolved is public. */
export async function isPrivateHost(url: string): Promise<boolean> {
  const host = URL.parse(url)?.hostname.replace(/^\[(.*)\]$/, '$1') ?? '';
  if (host === '') return false;
  if (isIP(host) !== 0) return notPublic(host) !== undefined;
  const addresses = await lookup(host, { all: true }).catch(() => []);
  return addresses.length > 0 && addresses.every(({ address }) => notPublic(address) !== undefined);
}
