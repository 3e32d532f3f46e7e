/** What owners of scripts have computed lately. */
export interface CpuBudget {
  /** Adds computing time; tells whether the owner is over the budget now. */
  use(owner: string, cpuMs: number): boolean;
  /** Milliseconds until an owner is below the budget again; 0 when it is. */
  waitMs(owner: string): number;
  /** Computing time that counts against the owner now, in milliseconds. */
  used(owner: string): number;
}

const MAX_OWNERS = 10_000; // remembered; the one that computed longest ago is forgotten first

/** Makes a budget of `limitMs` in any `windowMs`: a bucket per owner that leaks evenly, so that waiting always helps. */
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
      levels.delete(owner); // last in the order of the map: it computed last
      levels.set(owner, { ms, atMs: now() });
      if (levels.size > MAX_OWNERS) levels.delete(levels.keys().next().value ?? '');
      return ms >= limitMs;
    },
    waitMs: (owner) => Math.max(0, Math.ceil((used(owner) - limitMs) / leakPerMs)),
  };
}
