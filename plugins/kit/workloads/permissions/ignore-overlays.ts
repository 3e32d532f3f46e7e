import type { Dirent } from 'node:fs';
import { lstat, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join, posix, relative, sep } from 'node:path';
import { GatewayFault } from '@toolmgr/core';
import ignore, { type Ignore } from 'ignore';
import type { ContainerMount } from '../runtimes.ts';

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
export function globalIgnoreFile(env: NodeJS.ProcessEnv): string {
  // XDG base directory specification: a relative path is ignored
  const folder = env.XDG_CONFIG_HOME?.startsWith('/') ? env.XDG_CONFIG_HOME : join(env.HOME ?? homedir(), '.config');
  return join(folder, 'toolmgr', IGNORE_FILE);
}

/**
 * Finds what the ignore files of mounted directories name, with the rules of gitignore. The own file of a read-only mount is
 * read after the global one, so that it may take patterns back (`!`). That of a writable mount may not: the container could have
 * written it.
 *
 * A directory that is named is not searched, and one that cannot be read is hidden as a whole. For a symbolic link that is named, what
 * it leads to in the same mount is hidden. What lies below another mount is not seen in the container and left alone. Mounted files have
 * no ignore file. What is created later is not found before the next start; a hard link is a file with a name of its own.
 *
 * @throws GatewayFault WORKLOAD_FAILED when an ignore file cannot be read, a mount is too large to be searched, more than
 * 1000 entries match, or a name cannot be passed to an engine
 */
export async function resolveOverlays(
  mounts: readonly ContainerMount[],
  globalFile: string | undefined,
): Promise<readonly Overlay[]> {
  const shared = globalFile === undefined ? '' : await textOf(globalFile);
  const found = new Map<string, Overlay>();
  for (const { source, target, readOnly } of mounts) {
    if (!(await stat(source)).isDirectory()) continue;
    const own = await textOf(join(source, IGNORE_FILE));
    if (shared === '' && own === '') continue;
    const rules = (readOnly ? [`${shared}\n${own}`] : [shared, own]).map((text) => ignore().add(text));
    const others = mounts.map((mount) => mount.target).filter((other) => isBelow(other, target));
    await search({ rules, source, target, others, found, seen: 0 }, '');
  }
  const all = [...found.values()];
  // a directory is hidden with all that is in it
  return all.filter(({ target }) => !all.some((other) => other.kind === 'directory' && isBelow(target, other.target)));
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
  /** Where other mounts are inside this one. */
  readonly others: readonly string[];
  readonly found: Map<string, Overlay>;
  seen: number;
}

async function search(state: Search, folder: string): Promise<void> {
  const { rules, source, target, others } = state;
  const entries = await entriesOf(join(source, folder));
  if (entries === undefined) return hide(state, folder, 'directory');
  state.seen += entries.length;
  if (state.seen > MAX_ENTRIES) {
    throw fault(
      `${source} holds more than ${MAX_ENTRIES} files, too many to look for what ${IGNORE_FILE} names; mount less`,
    );
  }
  for (const entry of entries) {
    const path = posix.join(folder, entry.name);
    const at = posix.join(target, path);
    if (others.includes(at)) continue;
    const isLink = entry.isSymbolicLink();
    const isDirectory = entry.isDirectory();
    const forms = isLink ? [path, `${path}/`] : [isDirectory ? `${path}/` : path];
    const isNamed = rules.some((each) => forms.some((form) => each.ignores(form)));
    // one above another mount cannot be hidden as a whole; what is in it is named too
    const isAbove = others.some((other) => isBelow(other, at));
    if (isLink) await (isNamed ? hideTargetOf(state, path) : undefined);
    else if (isNamed && !isAbove) hide(state, path, isDirectory ? 'directory' : 'file');
    else if (isDirectory) await search(state, path);
  }
}

/** Hides what a symbolic link leads to, unless that is outside of the mount, or above the link. */
async function hideTargetOf(state: Search, path: string): Promise<void> {
  const { source, target, others } = state;
  const [root, real] = await Promise.all([source, join(source, path)].map((each) => realpath(each).catch(() => '')));
  if (!root || !real) return; // it leads nowhere
  const inside = relative(root, real).split(sep).join('/');
  const isOutside = inside === '' || inside === '..' || inside.startsWith('../') || isAbsolute(inside);
  const at = posix.join(target, inside);
  if (
    isOutside ||
    isBelow(path, inside) ||
    others.some((other) => other === at || isBelow(other, at) || isBelow(at, other))
  )
    return;
  hide(state, inside, (await stat(real)).isDirectory() ? 'directory' : 'file');
}

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(`${folder}/`);
}

function hide({ source, target, found }: Search, path: string, kind: Overlay['kind']): void {
  if (SEPARATORS.test(path)) {
    throw fault(
      `${JSON.stringify(join(source, path))} cannot be hidden: its name contains a colon, comma, quote or line break`,
    );
  }
  const at = posix.join(target, path);
  found.set(at, { target: at, kind });
  if (found.size > MAX_OVERLAYS) {
    throw fault(
      `${IGNORE_FILE} hides more than ${MAX_OVERLAYS} files and directories of ${target}; name their directories`,
    );
  }
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
