/** Limits the tokens that wait for the identity provider, in all and per client network. */
export interface ConcurrencySlots {
  /** Runs the work in a slot. @throws NoFreeSlot at once when there is none */
  within<T>(network: string, work: () => Promise<T>): Promise<T>;
}

/** Too many tokens wait, so that another one cannot be verified now. */
export class NoFreeSlot extends Error {}

/** Creates the slots. Waiting tokens are never evicted: unverified tokens cannot be ranked. */
export function createConcurrencySlots(total: number, perNetwork: number): ConcurrencySlots {
  const held = new Map<string, number>();
  let taken = 0;
  return {
    async within(network, work) {
      const own = held.get(network) ?? 0;
      if (taken >= total || own >= perNetwork) throw new NoFreeSlot('too many tokens wait for the identity provider');
      taken++;
      held.set(network, own + 1);
      try {
        return await work();
      } finally {
        taken--;
        const left = (held.get(network) ?? 1) - 1;
        if (left === 0) held.delete(network);
        else held.set(network, left);
      }
    },
  };
}
