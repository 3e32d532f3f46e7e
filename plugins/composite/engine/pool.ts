/**
 * Runs `work` for each item, at most `limit` at once, in order. Nothing new begins after the signal aborted; what has begun
 * is waited for. Never rejects when `work` does not.
 */
export async function inPool<T>(
  items: readonly T[],
  limit: number,
  signal: AbortSignal,
  work: (item: T, index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length && !signal.aborted) {
      const index = next++;
      await work(items[index] as T, index);
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
}
