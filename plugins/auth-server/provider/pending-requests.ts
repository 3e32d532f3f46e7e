import { networkOf, Shares } from '@toolmgr/core';

const MAX_PENDING = 10_000;
const MAX_PENDING_PER_NETWORK = 500;

/** The authorization requests that wait for a person. */
export interface PendingRequests {
  /** Notes a request. Returns those that have to end instead: the oldest of the network with the most. */
  began(uid: string, address: string | undefined): readonly string[];
  ended(uid: string): void;
}

interface Pending {
  readonly uid: string;
  readonly network: string;
  readonly untilMs: number;
}

/** Creates the record of one process. `ttlMs`: after this time a request has ended by itself. */
export function createPendingRequests(
  ttlMs: number,
  now: () => number,
  total = MAX_PENDING,
  perNetwork = MAX_PENDING_PER_NETWORK,
): PendingRequests {
  const shares = new Shares<Pending>(total, perNetwork);
  const byUid = new Map<string, Pending>(); // in the order of their ends
  const remove = (pending: Pending): void => {
    byUid.delete(pending.uid);
    shares.delete(pending.network, pending);
  };
  return {
    began(uid, address) {
      for (const pending of byUid.values()) {
        if (pending.untilMs > now()) break;
        remove(pending);
      }
      const network = networkOf(address);
      const [oldest] = shares.donor(network) ?? [];
      if (oldest !== undefined) remove(oldest);
      const pending = { uid, network, untilMs: now() + ttlMs };
      byUid.set(uid, pending);
      shares.add(network, pending);
      return oldest === undefined ? [] : [oldest.uid];
    },
    ended(uid) {
      const pending = byUid.get(uid);
      if (pending !== undefined) remove(pending);
    },
  };
}
