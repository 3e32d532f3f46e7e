import type { Dirent } from 'node:fs';
import { lstat, readdir, readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, posix } from 'node:path';
import { type ContainerMount, GatewayFault } from '@toolmgr/core';
import ignore, { type Ignore } from 'ignore';

/** Name of the ignore file: at the root of a mounted directory, and in the configuration folder of the user. */
export const IGNORE_FILE = '.toolmgrignore';

/** Something in a mounted directory that the container must not see. */
export interface Overlay {
  /** Path in the container. */
  readonly target: string;
  readonly kind: 'file' | 'directory';
}

const MAX_IGNORE_BYTES = 1_048_576;
const MAX_ENTRIES = 200_000;
const MAX_OVERLAYS = 1_000;
/** Characters that separate the parts of a mount in the requests to an engine. */
const SEPARATORS = /[:,"\r\n\0]/;

/** The ignore file for all mounts: in `$XDG_CONFIG_HOME/toolmgr`, else in `~/.config/toolmgr`. */
export function globalIgnoreFile(env: NodeJS.ProcessEnv = process.env): string {
  // XDG base directory specification: a relative path is ignored
  const folder = env.XDG_CONFIG_HOME?.startsWith('/') ? env.XDG_CONFIG_HOME : join(env.HOME ?? homedir(), '.config');
  return join(folder, 'toolmgr', IGNORE_FILE);
}

/**
 * Finds what the ignore files of mounted directories name, with the rules of gitignore. The own file of a read-only mount is
 * read after the global one, so that it may take patterns back (`!`). That of a writable mount may not: the container could have
 * written it.
 *
 * A directory that is named is not searched, and one that cannot be read is hidden as a whole. A symbolic link is not
 * hidden: what it leads to has a name of its own. Mounted files have no ignore file. What is created later is not found
 * before the next start.
 *
 * @throws GatewayFault WORKLOAD_FAILED when an ignore file cannot be read, a mount is too large to be searched, more than
 * 1000 entries match, or a name cannot be passed to an engine
 */
export async function resolveOverlays(
  mounts: readonly ContainerMount[],
  globalFile: string | undefined,
): Promise<readonly Overlay[]> {
  const shared = globalFile === undefined ? '' : await textOf(globalFile);
  const found: Overlay[] = [];
  for (const { source, target, readOnly } of mounts) {
    if (!(await stat(source)).isDirectory()) continue;
    const own = await textOf(join(source, IGNORE_FILE));
    if (shared === '' && own === '') continue;
    const rules = (readOnly ? [`${shared}\n${own}`] : [shared, own]).map((text) => ignore().add(text));
    await search({ rules, source, target, found, seen: 0 }, '');
  }
  return found;
}

/**
 * The ignore files of writable mounts, each mounted read-only over itself: a container that could change its own would see at the
 * next start what it hides.
 * @throws GatewayFault WORKLOAD_FAILED when such a file is a symbolic link, which a container could replace
 */
export async function guardedIgnoreFiles(mounts: readonly ContainerMount[]): Promise<readonly ContainerMount[]> {
  const found: ContainerMount[] = [];
  for (const { source, target, readOnly } of mounts) {
    const file = join(source, IGNORE_FILE);
    const info = readOnly ? undefined : await lstat(file).catch(() => undefined);
    if (info === undefined) continue;
    if (!info.isFile()) {
      throw fault(`${file} is not a file of its own, so the container could replace it; mount ${source} with :ro`);
    }
    found.push({ source: file, target: posix.join(target, IGNORE_FILE), readOnly: true });
  }
  return found;
}

/** The search through one mount. */
interface Search {
  /** What one of them ignores is hidden. */
  readonly rules: readonly Ignore[];
  readonly source: string;
  readonly target: string;
  readonly found: Overlay[];
  seen: number;
}

async function search(state: Search, folder: string): Promise<void> {
  const { rules, source, target, found } = state;
  const entries = await entriesOf(join(source, folder));
  if (entries === undefined) return hide(state, folder, 'directory');
  state.seen += entries.length;
  if (state.seen > MAX_ENTRIES) {
    throw fault(
      `${source} holds more than ${MAX_ENTRIES} files, too many to look for what ${IGNORE_FILE} names; mount less`,
    );
  }
  for (const entry of entries) {
    if (entry.isSymbolicLink()) continue;
    const path = posix.join(folder, entry.name);
    const isDirectory = entry.isDirectory();
    if (rules.some((each) => each.ignores(isDirectory ? `${path}/` : path)))
      hide(state, path, isDirectory ? 'directory' : 'file');
    else if (isDirectory) await search(state, path);
    if (found.length > MAX_OVERLAYS) {
      throw fault(
        `${IGNORE_FILE} hides more than ${MAX_OVERLAYS} files and directories of ${target}; name their directories`,
      );
    }
  }
}

function hide({ source, target, found }: Search, path: string, kind: Overlay['kind']): void {
  if (SEPARATORS.test(path)) {
    throw fault(
      `${JSON.stringify(join(source, path))} cannot be hidden: its name contains a colon, comma, quote or line break`,
    );
  }
  found.push({ target: posix.join(target, path), kind });
}

async function entriesOf(folder: string): Promise<readonly Dirent[] | undefined> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'EACCES' || code === 'EPERM') return undefined;
    if (code === 'ENOENT') return []; // it was removed meanwhile
    throw cause;
  }
}

async function textOf(file: string): Promise<string> {
  try {
    const text = await readFile(file, 'utf8');
    if (text.length > MAX_IGNORE_BYTES) throw fault(`${file} is larger than ${MAX_IGNORE_BYTES} bytes`);
    return text;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return '';
    if (cause instanceof GatewayFault) throw cause;
    throw fault(`${file} cannot be read: ${code ?? String(cause)}`, cause);
  }
}

function fault(message: string, cause?: unknown): GatewayFault {
  return new GatewayFault('WORKLOAD_FAILED', message, cause === undefined ? {} : { cause });
}
