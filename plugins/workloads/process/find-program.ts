import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';

/** Where a program is, or why it cannot be run. */
export type FoundProgram =
  | { readonly kind: 'found'; readonly path: string }
  | { readonly kind: 'missing' }
  | { readonly kind: 'notExecutable'; readonly path: string };

/**
 * Finds a program as a shell would: a word with a slash is a path from `cwd`, any other one is looked for in `PATH`.
 * Folders and files without the execute right are not programs.
 */
export async function findProgram(file: string, cwd: string, path = process.env.PATH ?? ''): Promise<FoundProgram> {
  if (file.includes('/') || isAbsolute(file)) return look(resolve(cwd, file));
  for (const folder of path.split(delimiter)) {
    // an empty entry means the current folder to a shell; here it would run what happens to lie around
    if (folder === '') continue;
    const found = await look(join(folder, file));
    if (found.kind === 'found') return found;
  }
  return { kind: 'missing' };
}

async function look(path: string): Promise<FoundProgram> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined || !found.isFile()) return { kind: 'missing' };
  const executable = await access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
  return executable ? { kind: 'found', path } : { kind: 'notExecutable', path };
}
