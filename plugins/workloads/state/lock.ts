import { mkdir, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { lock } from 'proper-lockfile';

/**
 * Runs `change` with an exclusive lock on a workload, across processes.
 *
 * Only for short file changes: do not wait for a process inside. The lock of a killed process expires after {@link STALE_MS}.
 * @throws Error when the lock is not free within about 20 s, and at once when the lock file cannot be written
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
  const release = await acquire(path);
  try {
    return await change();
  } finally {
    await release().catch(() => {});
  }
}

/** A lock that was not refreshed for this long is stale. */
export const STALE_MS = 5_000;

const MAX_TRIES = 90;
const MAX_WAIT_MS = 250;
/** Another process has the lock, or changes its folder at this moment. Other faults, such as a read-only disk, stay. */
const PASSING: ReadonlySet<string | undefined> = new Set(['ELOCKED', 'ENOENT', 'EBUSY', 'EPERM']);

async function acquire(path: string): Promise<() => Promise<void>> {
  const lockfilePath = `${path}.lock`;
  let seen: Seen | undefined;
  for (let tries = 1, waitMs = 10; ; tries += 1, waitMs = Math.min(waitMs * 1.2, MAX_WAIT_MS)) {
    try {
      // after a suspend another process may have the lock; files are replaced atomically, so they stay complete
      return await lock(path, { lockfilePath, realpath: false, stale: STALE_MS, onCompromised: () => {} });
    } catch (cause) {
      if (tries === MAX_TRIES || !PASSING.has((cause as NodeJS.ErrnoException).code)) throw cause;
    }
    await sleep(waitMs);
    seen = await removeFromFuture(lockfilePath, seen);
  }
}

interface Seen {
  readonly mtimeMs: number;
  /** `performance.now()` when this time was read first. */
  readonly since: number;
}

/**
 * The clock may have been set back after a process with the lock was killed: the age of the lock is negative then, for as long as the clock
 * was set back. A process that is alive writes the time again within {@link STALE_MS}.
 */
async function removeFromFuture(lockfilePath: string, seen: Seen | undefined): Promise<Seen | undefined> {
  const mtimeMs = await stat(lockfilePath).then(
    (found) => found.mtimeMs,
    () => undefined,
  );
  if (mtimeMs === undefined || mtimeMs <= Date.now()) return undefined;
  if (seen?.mtimeMs !== mtimeMs) return { mtimeMs, since: performance.now() };
  if (performance.now() - seen.since > STALE_MS) await rmdir(lockfilePath).catch(() => {});
  return seen;
}
