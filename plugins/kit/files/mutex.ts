import { constants, unlinkSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import type { DatabaseSync } from 'node:sqlite';

/** A lock of the kernel that this process has. */
export interface HeldMutex {
  release(): Promise<void>;
}

/** What happens to the file when the lock is released. */
export type MutexKind = 'kept' | 'removed';

/**
 * Takes the lock of a file without waiting; `undefined` when another process has it.
 *
 * Node has no `flock`, but its SQLite locks files in the kernel on every system: `fcntl` or `LockFileEx`. So the lock ends with its
 * process and never before, also when the process is suspended. Nothing is written: the file stays empty.
 *
 * `removed`: the file is removed with the release, for folders that belong to others. `fcntl` releases a lock when its process closes
 * any descriptor of the file, so a process must not take one file twice at the same time, nor read it.
 * @throws Error of the file system
 */
export async function tryMutex(path: string, kind: MutexKind): Promise<HeldMutex | undefined> {
  const file = kind === 'removed' ? await openShared(path) : undefined;
  let database: DatabaseSync | undefined;
  try {
    database = new sqlite.DatabaseSync(path, { timeout: 0 });
    // RESERVED, which one connection can have; a journal would be a second file
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN IMMEDIATE');
    // an open file keeps its inode: without a name it is not the file that others lock
    if (file !== undefined && (await file.stat()).nlink === 0) throw new RemovedMutex();
  } catch (cause) {
    close(database);
    await file?.close();
    if (cause instanceof RemovedMutex || isBusy(cause)) return undefined;
    throw (await reasonOf(path)) ?? cause;
  }
  return { release: () => release(path, database, file) };
}

const sqlite = withoutWarning(() => process.getBuiltinModule('node:sqlite'));

/** Node 22 prints that SQLite is experimental. */
function withoutWarning<T>(load: () => T): T {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}

class RemovedMutex extends Error {}

/**
 * Opens the file of a folder that others may have filled, such as a cloned project: it must be empty and no link, because its mode is
 * changed, and because SQLite acts on what a database and its journal say.
 */
async function openShared(path: string): Promise<FileHandle> {
  const file = await open(path, OPEN_SHARED, SHARED_MODE).catch((cause: NodeJS.ErrnoException) => {
    throw cause.code === 'ELOOP' ? new Error(`${path} is a symbolic link: remove it`, { cause }) : cause;
  });
  const found = await file.stat();
  if (found.isFile() && found.size === 0) {
    await file.chmod(SHARED_MODE).catch(() => {}); // of another user
    return file;
  }
  await file.close();
  throw new Error(`${path} is not an empty file: remove it`);
}

/** A pipe without a reader is an error and no wait. */
const OPEN_SHARED =
  constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** Other users of the folder wait too; the file has no content. */
const SHARED_MODE = 0o666;

async function release(path: string, database: DatabaseSync, file: FileHandle | undefined): Promise<void> {
  // Windows removes no file that is open here, and none that another process waits for
  if (file !== undefined) remove(path);
  close(database);
  await file?.close();
  if (file !== undefined && process.platform === 'win32') remove(path);
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // an empty file that stays is locked again by the next change
  }
}

function close(database: DatabaseSync | undefined): void {
  if (database?.isOpen) database.close();
}

const SQLITE_BUSY = 5;

function isBusy(cause: unknown): boolean {
  return ((cause as { readonly errcode?: number }).errcode ?? 0) % 256 === SQLITE_BUSY;
}

/** What the system says about a file that SQLite cannot open or lock; this process has no lock on it. */
async function reasonOf(path: string): Promise<unknown> {
  try {
    await (await open(path, 'a')).close();
    return undefined;
  } catch (cause) {
    return cause;
  }
}
