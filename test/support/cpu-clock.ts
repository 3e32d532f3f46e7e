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
