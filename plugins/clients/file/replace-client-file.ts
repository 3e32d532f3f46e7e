import { randomUUID } from 'node:crypto';
import { constants, linkSync, readFileSync, renameSync, statSync } from 'node:fs';
import { type FileHandle, link, mkdir, open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ClientFile, ClientFileError, type FoundFile } from './read-client-file.ts';

/** How a replacement ended. `changed`: another program changed the file; read it again. */
export type Replaced = { readonly kind: 'written'; readonly madeFolder?: string } | { readonly kind: 'changed' };

/**
 * Replaces the file that was read with a new text; `undefined` removes it.
 *
 * The editor of the user may write the same file. It is compared with what was read right before the rename. A program that
 * opened the old file before and writes into it later is found too: then the new text is taken back and the caller reads the
 * file again. Mode and owner stay; a new file has mode 0600.
 * @throws ClientFileError when the file cannot be written; it is unchanged
 */
export async function replaceClientFile({ path, found }: ClientFile, text: string | undefined): Promise<Replaced> {
  const { madeFolder } = await folderOf(path);
  await removeLeftovers(path);
  const temporary = temporaryName(path);
  let old: Old | undefined;
  try {
    if (found !== undefined) {
      old = await openOld(path, found);
      if (old === undefined) return { kind: 'changed' };
    }
    if (text !== undefined) await writeTemporary(temporary, text, found);
    if (!swap(path, old, temporary, text === undefined)) return { kind: 'changed' };
    if (old !== undefined && (await changedLater(old))) {
      await takeBack(path, old, text);
      return { kind: 'changed' };
    }
    return { kind: 'written', ...(madeFolder === undefined ? {} : { madeFolder }) };
  } catch (cause) {
    if (cause instanceof ClientFileError) throw cause;
    throw new ClientFileError(`${path} cannot be written (${(cause as NodeJS.ErrnoException).code ?? 'failed'})`);
  } finally {
    await old?.handle.close();
    await rm(temporary, { force: true });
  }
}

/** The file that was read. While it is open, no other file gets its inode. */
interface Old {
  readonly handle: FileHandle;
  readonly inode: bigint;
  readonly found: FoundFile;
}

async function openOld(path: string, found: FoundFile): Promise<Old | undefined> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => undefined);
  return handle && { handle, inode: (await handle.stat({ bigint: true })).ino, found };
}

function temporaryName(path: string): string {
  return join(dirname(path), `.${basename(path)}.toolmgr-${randomUUID()}`);
}

async function folderOf(path: string): Promise<{ readonly madeFolder?: string }> {
  const made = await mkdir(dirname(path), { recursive: true, mode: 0o700 }).catch((cause: NodeJS.ErrnoException) => {
    throw new ClientFileError(`${dirname(path)} cannot be made (${cause.code})`);
  });
  return made === undefined ? {} : { madeFolder: made };
}

/** Removes folders that were made for a file and are empty: from its own up to `top`. */
export async function removeMadeFolders(path: string, top: string): Promise<void> {
  for (let folder = dirname(path); folder.startsWith(top); folder = dirname(folder)) {
    const isGone = await rmdir(folder).then(
      () => true,
      () => false,
    );
    if (!isGone) return;
  }
}

async function writeTemporary(
  temporary: string,
  content: string | Buffer,
  found: FoundFile | undefined,
): Promise<void> {
  const file = await open(temporary, 'wx', 0o600);
  try {
    await file.writeFile(content);
    if (found !== undefined) {
      if (process.getuid?.() === 0) await file.chown(found.uid, found.gid);
      await file.chmod(found.mode);
    }
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Compares and renames without giving the turn to other work of this process: between the two is no wait. */
function swap(path: string, old: Old | undefined, temporary: string, removes: boolean): boolean {
  if (old === undefined) {
    if (removes) return true;
    try {
      linkSync(temporary, path); // unlike a rename, it fails when there is a file now
      return true;
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw cause;
    }
  }
  if (!isSame(path, old.found.bytes)) return false;
  // the inode last, because it is the fastest: an editor that writes in place is found later, one that renames only here
  if (statSync(path, { bigint: true }).ino !== old.inode) return false;
  if (removes) renameSync(path, temporary);
  else renameSync(temporary, path);
  return true;
}

function isSame(path: string, bytes: Buffer): boolean {
  try {
    return readFileSync(path).equals(bytes);
  } catch {
    return false;
  }
}

/** Whether a program writes into the old file after the rename: it had opened it before. */
async function changedLater({ handle, found }: Old): Promise<boolean> {
  // a file that was written a moment ago is likely to be written again
  const ends = Date.now() + (Date.now() - found.mtimeMs < RECENT_MS ? LATE_WRITER_MS : 0);
  for (;;) {
    if (!(await contentOf(handle)).equals(found.bytes)) {
      await settled(handle);
      return true;
    }
    if (Date.now() >= ends) return false;
    await sleep(POLL_MS);
  }
}

/** Waits until the writer has ended: the size does not change between two looks. */
async function settled(file: FileHandle): Promise<void> {
  for (let tries = 0, before = -1; tries < SETTLE_TRIES; tries++) {
    const { size } = await file.stat();
    if (size === before && size > 0) return;
    before = size;
    await sleep(POLL_MS);
  }
}

async function contentOf(file: FileHandle): Promise<Buffer> {
  const { size } = await file.stat();
  const bytes = Buffer.alloc(size);
  const { bytesRead } = await file.read(bytes, 0, size, 0);
  return bytes.subarray(0, bytesRead);
}

/** Puts what the other program wrote into the file again, unless a program replaced ours meanwhile. */
async function takeBack(path: string, { handle, found }: Old, ours: string | undefined): Promise<void> {
  const temporary = temporaryName(path);
  await writeTemporary(temporary, await contentOf(handle), found);
  try {
    if (ours === undefined) await link(temporary, path);
    else if (isSame(path, Buffer.from(ours))) await rename(temporary, path);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Removes temporary files of killed processes, and files that were removed. */
async function removeLeftovers(path: string): Promise<void> {
  const prefix = `.${basename(path)}.toolmgr-`;
  const names = (await readdir(dirname(path)).catch(() => [])).filter((name) => name.startsWith(prefix));
  for (const name of names) {
    const left = join(dirname(path), name);
    const found = await stat(left).catch(() => undefined);
    if (found !== undefined && Date.now() - found.ctimeMs > LEFTOVER_MS) await rm(left, { force: true });
  }
}

const RECENT_MS = 2_000;
const LATE_WRITER_MS = 60;
const POLL_MS = 10;
const SETTLE_TRIES = 20;
const LEFTOVER_MS = 60_000;
