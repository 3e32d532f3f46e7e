import { constants } from 'node:fs';
import { lstat, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError } from '../../shared/usage-error.ts';

/** Folder of the files of the manager: `server` of the state folder. */
export function serverFolder(state: string): string {
  return join(state, 'server');
}

/**
 * Creates the folder, mode 0700, or checks it.
 * @throws UsageError when it is a symbolic link, another user's, or writable by others
 */
export async function openServerFolder(state: string): Promise<string> {
  const folder = serverFolder(state);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const found = await lstat(folder);
  if (!found.isDirectory()) throw new UsageError(`${folder} is not a folder: remove it`);
  refuseOthers(folder, found, OTHERS_MAY_WRITE);
  return folder;
}

/**
 * Reads a file that only the user may read; `undefined` when there is none.
 * @throws UsageError when it is a symbolic link, another user's, or open to others
 */
export async function readOwnFile(path: string): Promise<string | undefined> {
  let file: Awaited<ReturnType<typeof open>>;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    if (code === 'ELOOP') throw new UsageError(`${path} is a symbolic link: remove it`);
    throw cause;
  }
  try {
    const found = await file.stat();
    if (!found.isFile() || found.size > MAX_BYTES) throw new UsageError(`${path} is not a file of toolmgr: remove it`);
    refuseOthers(path, found, OTHERS_MAY_USE);
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

const MAX_BYTES = 65_536;
const OTHERS_MAY_WRITE = 0o022;
const OTHERS_MAY_USE = 0o077;

function refuseOthers(
  path: string,
  { mode, uid }: { readonly mode: number; readonly uid: number },
  bits: number,
): void {
  if (process.platform === 'win32') return; // the profile folder protects it
  if (uid !== process.getuid?.()) throw new UsageError(`${path} is of another user`);
  if ((mode & bits) !== 0) throw new UsageError(`${path} is open to other users: chmod go-rwx ${path}`);
}
