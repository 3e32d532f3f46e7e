/** Bounds how many tokens wait for the identity provider at once, together and per network they came from. */
export interface Places {
  /** Does the work in a place of its own. @throws NoPlace at once when there is none */
  within<T>(network: string, work: () => Promise<T>): Promise<T>;
}

/** Too many tokens wait: nobody can tell about one more now. */
export class NoPlace extends Error {}

/** Nobody who waits can be sent away for a newcomer: tokens that are not verified yet are all alike. */
export function createPlaces(total: number, perNetwork: number): Places {
  const held = new Map<string, number>();
  let taken = 0;
  return {
    async within(network, work) {
      const own = held.get(network) ?? 0;
      if (taken >= total || own >= perNetwork) throw new NoPlace('too many tokens wait for the identity provider');
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
