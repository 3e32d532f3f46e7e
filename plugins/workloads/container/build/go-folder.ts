import { createHash } from 'node:crypto';
import { lstat, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import dockerIgnore from '@balena/dockerignore';

/** A file of a build context; paths have `/`. */
export interface ContextFile {
  readonly path: string;
  readonly content: Buffer;
  readonly isExecutable: boolean;
}

/** A Go module as a build context. */
export interface GoFolder {
  readonly files: readonly ContextFile[];
  /** Folder of the main package inside the module; empty when it is the module's own. */
  readonly mainFolder: string;
  /** Of paths, contents and modes. */
  readonly hash: string;
}

const MAX_BYTES = 256 * 1_048_576;
const MAX_FILES = 50_000;
/** Never needed by a build, and often secret. `.dockerignore` can add more, and `!` brings one back. */
const LEFT_OUT = ['.git', '**/.env', '**/.env.*', '**/.netrc', '**/.npmrc', '**/.ssh', '**/id_rsa', '**/id_ed25519'];

/**
 * Reads the Go module around a folder: the folder with `go.mod`, without what `.dockerignore` names. Symbolic links that
 * lead out of the module are left out.
 */
export async function readGoFolder(folder: string): Promise<GoFolder | { readonly reason: string }> {
  const found = await stat(folder).catch(() => undefined);
  if (!found?.isDirectory()) return { reason: `go://${folder}: there is no such folder` };
  const main = await realpath(folder);
  const root = await moduleRoot(main);
  if (root === undefined) return { reason: `go://${folder}: there is no go.mod in it or in a folder above` };
  const ignored = dockerIgnore.default({ ignorecase: false }).add(LEFT_OUT);
  ignored.add(await readFile(join(root, '.dockerignore'), 'utf8').catch(() => ''));
  const files: ContextFile[] = [];
  const reason = await collect(root, '', ignored, files, { bytes: MAX_BYTES });
  if (reason !== undefined) return { reason: `go://${folder}: ${reason}` };
  const hash = createHash('sha256');
  for (const { path, content, isExecutable } of files) {
    hash.update(`${path}\0${isExecutable}\0${content.length}\0`).update(content);
  }
  return { files, mainFolder: relative(root, main).split(sep).join('/'), hash: hash.digest('hex') };
}

async function moduleRoot(folder: string): Promise<string | undefined> {
  for (let at = folder; ; at = dirname(at)) {
    const found = await lstat(join(at, 'go.mod')).catch(() => undefined);
    if (found?.isFile()) return at;
    if (dirname(at) === at) return undefined;
  }
}

/** Adds the files below a folder in a fixed order; a sentence when there are too many. */
async function collect(
  root: string,
  below: string,
  ignored: ReturnType<typeof dockerIgnore.default>,
  files: ContextFile[],
  budget: { bytes: number },
): Promise<string | undefined> {
  const entries = await readdir(join(root, below), { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) {
      // a pattern with `!` may bring back a file of an ignored folder, so that only these are always left out
      if (path === '.git' || entry.name === 'node_modules') continue;
      const reason = await collect(root, path, ignored, files, budget);
      if (reason !== undefined) return reason;
      continue;
    }
    if (ignored.ignores(path)) continue;
    const whole = await realpath(join(root, path)).catch(() => undefined);
    if (whole === undefined || !isInside(root, whole)) continue;
    const found = await stat(whole);
    if (!found.isFile()) continue;
    if (files.length >= MAX_FILES)
      return `it has more than ${MAX_FILES} files: name what is not needed in .dockerignore`;
    budget.bytes -= found.size;
    if (budget.bytes < 0) {
      return `it is larger than ${MAX_BYTES / 1_048_576} MiB: name what is not needed in .dockerignore`;
    }
    files.push({ path, content: await readFile(whole), isExecutable: (found.mode & 0o111) !== 0 });
  }
  return undefined;
}

function isInside(root: string, path: string): boolean {
  return resolve(path).startsWith(`${root}${sep}`);
}
