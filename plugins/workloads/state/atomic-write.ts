import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/**
 * Replaces a file as a whole, mode 0600: whoever reads it, even after a power cut, finds the old text or the new one.
 *
 * A name with a leading dot is used on the way, so that nobody takes a half-written file for a whole one.
 * @throws Error of the file system; the old file is then still there
 */
export async function atomicWrite(path: string, text: string): Promise<void> {
  const passing = join(dirname(path), `.${basename(path)}-${randomUUID()}`);
  try {
    await writeSynced(passing, text);
    await rename(passing, path);
  } catch (cause) {
    await rm(passing, { force: true });
    throw cause;
  }
  await syncFolder(dirname(path));
}

/** Writes a new file, mode 0600, and waits until it is on disk. */
export async function writeSynced(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Waits until the names in a folder are on disk. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
