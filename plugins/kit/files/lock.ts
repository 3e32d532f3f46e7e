import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type HeldMutex, type MutexKind, tryMutex } from './mutex.ts';

/** How long a lock is waited for. */
export interface LockWait {
  /** Default: {@link WAIT_MS}. */
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
}

/**
 * Runs `change` with an exclusive lock on a name of a state folder, across processes: `locks/NAME.mutex`, which stays.
 *
 * Only for short changes: others wait for a process that is suspended meanwhile. The lock of a killed process is free at once.
 * @throws LockHeld when the lock is not free in time, and an Error of the file system when the lock file cannot be written
 */
export async function withLock<T>(
  state: string,
  name: string,
  change: () => Promise<T>,
  wait: LockWait = {},
): Promise<T> {
  const folder = join(state, 'locks');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return withMutex(join(folder, name), 'kept', change, wait);
}

/**
 * Runs `change` with an exclusive lock on a file: `PATH.mutex` beside it, while it runs. The file need not exist, its folder must.
 * @throws Error as {@link withLock}
 */
export function withFileLock<T>(path: string, change: () => Promise<T>, wait: LockWait = {}): Promise<T> {
  return withMutex(path, 'removed', change, wait);
}

/** A lock was not free in time. */
export class LockHeld extends Error {
  override readonly name = 'LockHeld';
  readonly code = 'ELOCKED';
}

/** How long a lock is waited for. */
export const WAIT_MS = 30_000;

async function withMutex<T>(path: string, kind: MutexKind, change: () => Promise<T>, wait: LockWait): Promise<T> {
  const { waitMs = WAIT_MS, signal } = wait;
  const until = AbortSignal.any([AbortSignal.timeout(waitMs), ...(signal === undefined ? [] : [signal])]);
  return inTurn(path, until, async () => {
    const held = await take(`${path}.mutex`, kind, until);
    const note = kind === 'kept' ? holderPath(path) : undefined;
    try {
      if (note !== undefined) await writeHolder(note);
      return await change();
    } finally {
      if (note !== undefined) await rm(note, { force: true }).catch(() => {});
      await held.release();
    }
  }).catch(async (cause: unknown) => {
    if (!(cause instanceof NotFree)) throw cause;
    signal?.throwIfAborted();
    throw new LockHeld(
      `${path}.mutex is locked by ${await holderOf(path)}, and did not become free within ${waitMs / 1000} s`,
    );
  });
}

class NotFree extends Error {}

/** One at a time in this process: first come, first served. */
async function inTurn<T>(path: string, until: AbortSignal, act: () => Promise<T>): Promise<T> {
  const key = resolve(path);
  const before = turns.get(key);
  const { promise, resolve: end } = Promise.withResolvers<void>();
  const mine = before === undefined ? promise : before.then(() => promise);
  turns.set(key, mine);
  try {
    if (before !== undefined) await Promise.race([before, refusedAt(until)]);
    return await act();
  } finally {
    end();
    void mine.then(() => turns.get(key) === mine && turns.delete(key));
  }
}

const turns = new Map<string, Promise<void>>();

function refusedAt(until: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (until.aborted) reject(new NotFree());
    until.addEventListener('abort', () => reject(new NotFree()), { once: true });
  });
}

async function take(mutex: string, kind: MutexKind, until: AbortSignal): Promise<HeldMutex> {
  for (let waitMs = MIN_PAUSE_MS; ; waitMs = Math.min(waitMs * 1.5, MAX_PAUSE_MS)) {
    const held = await tryMutex(mutex, kind);
    if (held !== undefined) return held;
    // not all at the same moment
    await sleep(waitMs * (0.5 + Math.random()), undefined, { signal: until }).catch(() => {
      throw new NotFree();
    });
  }
}

const MIN_PAUSE_MS = 4;
const MAX_PAUSE_MS = 60;

/** Beside the mutex and not in it: reading that file would release it. */
function holderPath(path: string): string {
  return `${path}.holder`;
}

/** Only for the error of others, so a full disk is no reason to stop. */
async function writeHolder(path: string): Promise<void> {
  const words = process.argv.slice(2, 4).filter((word) => /^[a-z][a-z-]*$/.test(word)); // no names, no secrets
  const program = [basename(process.argv[1] ?? process.execPath), ...words].join(' ');
  await writeFile(path, `${process.pid} (${program})`, { mode: 0o600 }).catch(() => {});
}

async function holderOf(path: string): Promise<string> {
  const text = await readFile(holderPath(path), 'utf8').catch(() => '');
  return text === '' ? 'another process' : `process ${text}`;
}
