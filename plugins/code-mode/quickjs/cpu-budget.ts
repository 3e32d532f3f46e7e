/** Recent computing time per owner of scripts. */
export interface CpuBudget {
  /** Adds computing time; returns whether the owner is over the budget. */
  use(owner: string, cpuMs: number): boolean;
  /** Milliseconds until an owner is below the budget; 0 when it is below. */
  waitMs(owner: string): number;
  /** Computing time that counts against the owner now, in milliseconds. */
  used(owner: string): number;
}

const MAX_OWNERS = 10_000; // the least recent one is dropped first

/** Creates a budget of `limitMs` per `windowMs`: a leaky bucket per owner. */
export function createCpuBudget(limitMs: number, windowMs: number, now: () => number): CpuBudget {
  const leakPerMs = limitMs / windowMs;
  const levels = new Map<string, { readonly ms: number; readonly atMs: number }>();
  const used = (owner: string): number => {
    const level = levels.get(owner);
    return level === undefined ? 0 : Math.max(0, level.ms - (now() - level.atMs) * leakPerMs);
  };
  return {
    used,
    use(owner, cpuMs) {
      const ms = used(owner) + cpuMs;
      levels.delete(owner); // moves the owner to the end of the map, which is the most recent
      levels.set(owner, { ms, atMs: now() });
      if (levels.size > MAX_OWNERS) levels.delete(levels.keys().next().value ?? '');
      return ms >= limitMs;
    },
    waitMs: (owner) => Math.max(0, Math.ceil((used(owner) - limitMs) / leakPerMs)),
  };
}
