import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from '../../contract/backend.ts';
import type { Environment } from '../../contract/environment.ts';
import { type PackageRun, packageRunOf } from './package-runner.ts';

/** Settings of the wait. */
export interface TurnOptions {
  readonly signal: AbortSignal;
  /** Longest wait. */
  readonly waitMs: number;
  /** Called once when another process installs the package. */
  onWait?(): void;
}

/** Ends a turn. Repeated calls do nothing. */
export type EndTurn = () => Promise<void>;

/** How a start waits for other installations; the callbacks get the names of the packages. */
interface InstallWait extends Omit<TurnOptions, 'onWait'> {
  onWait?(packages: string): void;
  /** The error when others still install after `waitMs`. */
  late(packages: string): Error;
}

/**
 * Waits while other processes install the packages of a command into the same cache; `undefined` at once for a program that
 * installs nothing. `env` is the environment of the program.
 * @throws what `late` makes · the reason of `signal`
 */
export async function installTurnOf(
  command: Pick<Command, 'file' | 'args'>,
  env: Environment,
  { onWait, late, ...options }: InstallWait,
): Promise<EndTurn | undefined> {
  const run = packageRunOf(command, env);
  if (run === undefined) return undefined;
  const packages = run.packages.join(', ');
  const endTurn = await takeInstallTurn(run, { ...options, onWait: () => onWait?.(packages) });
  if (endTurn === undefined) throw late(packages);
  return endTurn;
}

/**
 * Waits while other installations, in this or another process, install these packages into this cache.
 *
 * The turn lasts until it is ended or this process dies. Turns are numbered files in the cache itself: a file is
 * created exclusively with the next number, so that two processes never take the same turn, and the turn of a dead
 * process is followed by the next number.
 * Result: `undefined` when others still install after `waitMs`. A cache that cannot be written needs no turn, because
 * nothing can be installed: the result is immediate.
 * @throws the reason of `signal`
 */
export async function takeInstallTurn(run: PackageRun, options: TurnOptions): Promise<EndTurn | undefined> {
  const { signal, waitMs, onWait } = options;
  const folder = join(run.cache, FOLDER);
  const key = createHash('sha256').update(run.packages.join('\n')).digest('hex').slice(0, 32);
  const watched: Watched = { path: '', modifiedMs: 0, sinceMs: 0 };
  const deadlineMs = performance.now() + waitMs;
  let isReported = false;
  for (;;) {
    signal.throwIfAborted();
    const taken = await tryTake(folder, key, watched).catch(cannotWrite);
    if (taken !== undefined) return taken;
    if (!isReported) onWait?.();
    isReported = true;
    if (performance.now() >= deadlineMs) return undefined;
    await delay(POLL_MS, undefined, { signal }).catch(() => {});
  }
}

/** Another turn, and since when (by this process's clock) its file has not changed. */
interface Watched {
  path: string;
  modifiedMs: number;
  sinceMs: number;
}

async function tryTake(folder: string, key: string, watched: Watched): Promise<EndTurn | undefined> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const last = await lastNumber(folder, key);
  if (last !== 0 && !(await isOver(pathOf(folder, key, last), watched))) return undefined;
  const number = last + 1;
  const path = pathOf(folder, key, number);
  try {
    await writeFile(path, JSON.stringify({ pid: process.pid, host: hostname() }), { flag: 'wx', mode: 0o600 });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') return undefined;
    throw cause;
  }
  // A process that read the folder long ago may use a number that was used and removed since.
  if ((await lastNumber(folder, key)) !== number) {
    await rm(path, { force: true });
    return undefined;
  }
  if (last !== 0) await rm(pathOf(folder, key, last), { force: true });
  return heldTurn(path);
}

function heldTurn(path: string): EndTurn {
  const living = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => {});
  }, SIGN_OF_LIFE_MS);
  living.unref();
  let ended: Promise<void> | undefined;
  return () => {
    clearInterval(living);
    ended ??= writeFile(path, OVER).catch(() => {});
    return ended;
  };
}

/** Whether it ended, its process is dead, or its file has not changed for long enough. */
async function isOver(path: string, watched: Watched): Promise<boolean> {
  const [text, modifiedMs] = await Promise.all([
    readFile(path, 'utf8').catch(() => undefined),
    stat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => 0,
    ),
  ]);
  if (text === undefined) return false; // another turn has followed it: check again
  if (text === OVER || isDead(text)) return true;
  if (watched.path !== path || watched.modifiedMs !== modifiedMs) {
    Object.assign(watched, { path, modifiedMs, sinceMs: performance.now() });
    return false;
  }
  return performance.now() - watched.sinceMs > STALE_MS;
}

/** Whether the process on this machine that wrote the text is dead. Unknown for another machine. */
function isDead(text: string): boolean {
  try {
    const { pid, host } = JSON.parse(text) as { pid?: unknown; host?: unknown };
    if (host !== hostname() || typeof pid !== 'number') return false;
    process.kill(pid, 0);
    return false;
  } catch (cause) {
    // EPERM: the process lives and belongs to another user; a file that is just being written is not JSON yet
    return (cause as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

async function lastNumber(folder: string, key: string): Promise<number> {
  const names = await readdir(folder);
  return Math.max(
    0,
    ...names.flatMap((name) => (name.startsWith(`${key}.`) ? [Number(name.slice(key.length + 1))] : [])),
  );
}

function pathOf(folder: string, key: string, number: number): string {
  return join(folder, `${key}.${number}`);
}

function cannotWrite(cause: unknown): EndTurn {
  const { code } = cause as NodeJS.ErrnoException;
  if (code === undefined) throw cause;
  return async () => {};
}

const FOLDER = '_toolmgr'; // npm, uv and others ignore unknown folders
const OVER = 'over\n';
const POLL_MS = 200;
const SIGN_OF_LIFE_MS = 2_000;
const STALE_MS = 20_000; // ten updates in a row are missing
