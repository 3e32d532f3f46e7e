import { type LookupAddress, lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { createRemoteHttp, type RemoteHttp } from '@toolmgr/plugins/kit/safe-http';
import { isPrivateHost, notPublic } from '@toolmgr/plugins/kit/safe-http/addresses';

/** Which addresses the requests about one remote server may lead to. */
export interface SteadyAddresses {
  readonly allowPrivateAddresses: boolean;
  /** Resolves names, and refuses public addresses of a name that had a private one. */
  readonly lookup: LookupFunction;
}

/**
 * `urls`: the remote server, and the URLs that the user configured. Private addresses are allowed only if one of them has
 * a private address itself. Its name must keep a private address: a server that is on the internet one moment later (DNS
 * rebinding) could name addresses inside the own network.
 */
export async function steadyAddresses(urls: readonly (string | undefined)[]): Promise<SteadyAddresses> {
  const given = urls.filter((url) => url !== undefined);
  const isPrivate = await Promise.all(given.map(isPrivateHost));
  const hosts = given.filter((_, at) => isPrivate[at]).map((url) => URL.parse(url)?.hostname ?? '');
  return { allowPrivateAddresses: hosts.length > 0, lookup: steadyLookup(new Set(hosts)) };
}

/** Refuses public addresses of these hosts. */
export function steadyLookup(
  hosts: ReadonlySet<string>,
  resolve: LookupFunction = lookup as LookupFunction,
): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, options, (error, found, family) => {
      const addresses = Array.isArray(found) ? found.map(({ address }: LookupAddress) => address) : [found];
      const isMoved = error === null && hosts.has(hostname) && addresses.some((each) => notPublic(each) === undefined);
      callback(
        isMoved ? new Error(`${hostname} had a private address before, and now has a public one`) : error,
        found,
        family,
      );
    });
  };
}

/**
 * The HTTP client for metadata, registration and tokens of one remote server: https only, except on this machine; redirects
 * only within the origin; bounded answers.
 */
export async function createOauthHttp(urls: readonly (string | undefined)[]): Promise<RemoteHttp> {
  return oauthHttp(await steadyAddresses(urls));
}

/** Like {@link createOauthHttp}, with addresses that other requests follow too. */
export function oauthHttp(addresses: SteadyAddresses): RemoteHttp {
  return createRemoteHttp({
    ...addresses,
    allowHttp: 'loopback',
    followsWithinOrigin: true,
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_ANSWER_BYTES,
  });
}

const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 256 * 1024;
