import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';

/** The path of a program, or why it cannot run. */
export type FoundProgram =
  | { readonly kind: 'found'; readonly path: string }
  | { readonly kind: 'missing' }
  | { readonly kind: 'notExecutable'; readonly path: string };

/**
 * Finds a program like a shell: a name with a slash is a path from `cwd`, any other one is searched in `PATH`. Skips folders
 * and files without execute permission.
 */
export async function findProgram(file: string, cwd: string, path: string | undefined): Promise<FoundProgram> {
  if (file.includes('/') || isAbsolute(file)) return look(resolve(cwd, file));
  for (const folder of (path ?? '').split(delimiter)) {
    // a shell reads an empty entry as the current folder, which is unsafe
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
