import { constants } from 'node:fs';
import { type FileHandle, lstat, open, realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** The file of a client, as it was read. */
export interface ClientFile {
  /** The real file, behind links. */
  readonly path: string;
  /** Absent: there is no file. */
  readonly found?: FoundFile;
}

/** What a file was when it was read. */
export interface FoundFile {
  readonly bytes: Buffer;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly mtimeMs: number;
}

/** The file cannot be used; the message says which and why, and never quotes it. */
export class ClientFileError extends Error {}

/** Largest file that is read. */
export const MAX_CLIENT_FILE_BYTES = 32 * 1024 * 1024;

/**
 * Reads the file of a client. A link, as managers of dotfiles make them, is followed when its target belongs to the same user:
 * otherwise a link of one user could make toolmgr change a file of another.
 * @throws ClientFileError
 */
export async function readClientFile(path: string): Promise<ClientFile> {
  const link = await lstat(path).catch(orAbsent(path));
  if (link === undefined) {
    await checkFolder(path);
    return { path };
  }
  const real = link.isSymbolicLink() ? await followed(path, link.uid) : path;
  await checkFolder(real);
  const handle = await open(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW).catch(
    orRefused(path),
  );
  try {
    return { path: real, found: await readFound(path, handle) };
  } finally {
    await handle.close();
  }
}

async function readFound(path: string, handle: FileHandle): Promise<FoundFile> {
  const found = await handle.stat();
  if (!found.isFile()) throw new ClientFileError(`${path} is not a regular file`);
  if (isOfOther(found.uid)) throw new ClientFileError(`${path} belongs to another user`);
  if (found.size > MAX_CLIENT_FILE_BYTES) throw new ClientFileError(`${path} is larger than 32 MiB`);
  const { uid, gid, mtimeMs } = found;
  return { bytes: await handle.readFile(), mode: found.mode & 0o777, uid, gid, mtimeMs };
}

async function followed(path: string, owner: number): Promise<string> {
  const real = await realpath(path).catch((cause: NodeJS.ErrnoException) => {
    throw new ClientFileError(
      cause.code === 'ENOENT'
        ? `${path} is a link to a file that does not exist`
        : `${path} cannot be followed (${cause.code})`,
    );
  });
  const target = await stat(real).catch(orRefused(path));
  if (isOfOther(owner) || target.uid !== owner)
    throw new ClientFileError(`${path} is a link to a file of another user: it is not followed`);
  return real;
}

/** Others must not be able to put another file into the folder while we work in it. */
async function checkFolder(path: string): Promise<void> {
  const folder = await stat(dirname(path)).catch(() => undefined);
  if (folder === undefined) return;
  const isSticky = (folder.mode & 0o1000) !== 0;
  if (process.getuid !== undefined && (folder.mode & 0o002) !== 0 && !isSticky)
    throw new ClientFileError(`${dirname(path)} can be changed by every user: chmod o-w it`);
  if (folder.uid !== 0 && isOfOther(folder.uid)) throw new ClientFileError(`${dirname(path)} belongs to another user`);
}

/** The superuser works for all users. */
function isOfOther(uid: number): boolean {
  const own = process.getuid?.();
  return own !== undefined && own !== 0 && uid !== own;
}

function orAbsent(path: string) {
  return (cause: NodeJS.ErrnoException): undefined => {
    if (cause.code === 'ENOENT') return undefined;
    throw new ClientFileError(`${path} cannot be read (${cause.code})`);
  };
}

function orRefused(path: string) {
  return (cause: NodeJS.ErrnoException): never => {
    throw new ClientFileError(`${path} cannot be read (${cause.code})`);
  };
}
