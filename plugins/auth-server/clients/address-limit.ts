import { networkOf } from '@toolmgr/core';
import { LRUCache } from 'lru-cache';

const MAX_NETWORKS = 10_000; // the network that was seen longest ago is forgotten

/** A token bucket for each network: an IPv4 address, or the first 64 bits of an IPv6 address. */
export interface AddressLimit {
  /** Takes one token. Returns the whole seconds to wait when there is none. */
  take(address: string | undefined): number | undefined;
}

/** Creates full buckets. `perSecond`: tokens that come back each second, up to `burst`. */
export function createAddressLimit(burst: number, perSecond: number, now: () => number): AddressLimit {
  const buckets = new LRUCache<string, { readonly tokens: number; readonly atMs: number }>({ max: MAX_NETWORKS });
  return {
    take(address) {
      const network = networkOf(address);
      const atMs = now();
      const last = buckets.get(network) ?? { tokens: burst, atMs };
      const tokens = Math.min(burst, last.tokens + ((atMs - last.atMs) / 1000) * perSecond);
      const isAllowed = tokens >= 1;
      buckets.set(network, { tokens: isAllowed ? tokens - 1 : tokens, atMs });
      return isAllowed ? undefined : Math.ceil((1 - tokens) / perSecond);
    },
  };
}
