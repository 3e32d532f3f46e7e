/**
 * Measures work that waits for nothing, on a machine that also does other work: returns a function that gives the
 * milliseconds of CPU that this thread has used since.
 *
 * Shape: `const usedMs = cpuClock(); work(); expect(usedMs()).toBeLessThan(500)`.
 */
export function cpuClock(): () => number {
  const before = process.threadCpuUsage();
  return () => {
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  };
}

/**
 * Milliseconds of CPU that work takes, at least: it runs up to five times, until it took less than `enoughMs`. A processor that is
 * shared with other programs makes CPU time longer too, for seconds at most.
 */
export function leastCpuMs(enoughMs: number, work: () => void): number {
  let least = Number.POSITIVE_INFINITY;
  for (let times = 0; times < 5 && least >= enoughMs; times++) {
    const usedMs = cpuClock();
    work();
    least = Math.min(least, usedMs());
  }
  return least;
}
