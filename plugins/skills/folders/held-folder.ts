import { constants } from 'node:fs';
import { lstat, mkdir, open, readlink } from 'node:fs/promises';
import { join } from 'node:path';

/** A folder that was opened without following links. */
export interface HeldFolder {
  /** For file operations. On Linux it leads to this very folder, also when a part of its path is replaced later. */
  readonly path: string;
  /** The real path, for messages. */
  readonly shown: string;
  close(): Promise<void>;
}

/** A part of a path is a link or not a folder. */
export class UnsafeFolder extends Error {
  override readonly name = 'UnsafeFolder';
}

/** Where a folder is: `segments` below `base` are never followed when they are links. `base` is a real path. */
export interface FolderPlace {
  readonly base: string;
  readonly segments: readonly string[];
}

const FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const FOLDER_MODE = 0o750;

/**
 * Opens a folder. `undefined` when it does not exist and `create` is false.
 *
 * Node has no `openat`: on Linux the paths of open folders in `/proc` serve as one. Elsewhere each part is checked, and a
 * replacement between the check and the use is not noticed.
 * @throws UnsafeFolder when a part is a link or not a folder
 */
export async function holdFolder(
  place: FolderPlace,
  { create }: { readonly create: boolean },
): Promise<HeldFolder | undefined> {
  return process.platform === 'linux' ? holdByProc(place, create) : holdByPath(place, create);
}

async function holdByProc({ base, segments }: FolderPlace, create: boolean): Promise<HeldFolder | undefined> {
  let shown = base;
  let held = await openFolder(base, base);
  if (held === undefined) return undefined;
  try {
    const real = await readlink(`/proc/self/fd/${held.fd}`);
    if (real !== base) throw new UnsafeFolder(`${base} leads to ${real}`);
    for (const segment of segments) {
      shown = join(shown, segment);
      const path = `/proc/self/fd/${held.fd}/${segment}`;
      if (create) await makeFolder(path);
      const next = await openFolder(path, shown);
      await held.close();
      if (next === undefined) return undefined;
      held = next;
    }
  } catch (cause) {
    await held.close().catch(() => {});
    throw cause;
  }
  const file = held;
  return { path: `/proc/self/fd/${file.fd}`, shown, close: () => file.close() };
}

async function openFolder(path: string, shown: string) {
  try {
    return await open(path, FLAGS);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    if (code === 'ELOOP' || code === 'ENOTDIR') throw new UnsafeFolder(`${shown} is a link or not a folder`);
    throw cause;
  }
}

async function holdByPath({ base, segments }: FolderPlace, create: boolean): Promise<HeldFolder | undefined> {
  let path = base;
  for (const segment of ['', ...segments]) {
    path = join(path, segment);
    if (create && segment !== '') await makeFolder(path);
    const found = await lstat(path).catch(missing);
    if (found === undefined) return undefined;
    if (!found.isDirectory()) throw new UnsafeFolder(`${path} is a link or not a folder`);
  }
  return { path, shown: path, close: async () => {} };
}

async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { mode: FOLDER_MODE }).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'EEXIST') throw cause;
  });
}

/** For `catch`: `undefined` when something does not exist. */
export function missing(cause: NodeJS.ErrnoException): undefined {
  if (cause.code === 'ENOENT') return undefined;
  throw cause;
}
