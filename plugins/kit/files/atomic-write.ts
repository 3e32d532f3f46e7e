import { randomUUID } from 'node:crypto';
import { open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { whenAbsent } from './when-absent.ts';

/**
 * Replaces a file atomically, mode 0600 unless given: readers get the old or the new text, even after a power failure.
 *
 * The temporary name has a leading dot, so that readers ignore it.
 * @throws Error of the file system; the old file is unchanged
 */
export async function atomicWrite(path: string, text: string | Buffer, mode = 0o600): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}-${randomUUID()}`);
  try {
    await writeSynced(temporary, text, mode);
    await rename(temporary, path);
  } catch (cause) {
    await rm(temporary, { force: true });
    throw cause;
  }
  await syncFolder(dirname(path));
}

/** Writes a new file, mode 0600 unless given, and waits until it is on disk. */
export async function writeSynced(path: string, text: string | Buffer, mode = 0o600): Promise<void> {
  const file = await open(path, 'wx', mode);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Waits until the entries of a folder are on disk. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/**
 * Removes what killed processes left of {@link atomicWrite}: files of a folder whose names begin so. Only while no other process
 * writes there.
 */
export async function removeTemporaries(folder: string, prefix = '.'): Promise<void> {
  const names = await readdir(folder).catch(whenAbsent([]));
  const left = names.filter((name) => name.startsWith(prefix));
  await Promise.all(left.map((name) => rm(join(folder, name), { force: true })));
}
