import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { lock } from 'proper-lockfile';

/**
 * Runs `change` while nobody else, in any process, changes the same workload.
 *
 * For short changes of files only: waiting for a process to end does not belong inside. A holder that was killed is
 * passed over after {@link STALE_MS}.
 * @throws Error when the lock is not free within about 20 s
 */
export async function withLock<T>(state: string, name: string, change: () => Promise<T>): Promise<T> {
  const folder = join(state, 'locks');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, name);
  const release = await lock(path, {
    lockfilePath: `${path}.lock`,
    realpath: false,
    stale: STALE_MS,
    retries: { retries: 90, factor: 1.2, minTimeout: 10, maxTimeout: 250 },
    // after a suspend the lock may be somebody else's; files are replaced as a whole, so nothing is torn
    onCompromised: () => {},
  });
  try {
    return await change();
  } finally {
    await release().catch(() => {});
  }
}

/** A lock without a sign of life for this long belongs to nobody. */
export const STALE_MS = 5_000;
