import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { lock } from 'proper-lockfile';

/**
 * Runs `change` with an exclusive lock on a workload, across processes.
 *
 * Only for short file changes: do not wait for a process inside. The lock of a killed process expires after {@link STALE_MS}.
 * @throws Error when the lock is not free within about 20 s
 */
export async function withLock<T>(state: string, name: string, change: () => Promise<T>): Promise<T> {
  const folder = join(state, 'locks');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return withFileLock(join(folder, name), change);
}

/**
 * Runs `change` with an exclusive lock on a file: `PATH.lock` beside it, while it runs. The file need not exist, its folder must.
 * @throws Error as {@link withLock}
 */
export async function withFileLock<T>(path: string, change: () => Promise<T>): Promise<T> {
  const release = await lock(path, {
    lockfilePath: `${path}.lock`,
    realpath: false,
    stale: STALE_MS,
    retries: { retries: 90, factor: 1.2, minTimeout: 10, maxTimeout: 250 },
    // after a suspend another process may have the lock; files are replaced atomically, so they stay complete
    onCompromised: () => {},
  });
  try {
    return await change();
  } finally {
    await release().catch(() => {});
  }
}

/** A lock that was not refreshed for this long is stale. */
export const STALE_MS = 5_000;
