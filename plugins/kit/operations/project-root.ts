import { lstat, realpath } from 'node:fs/promises';
import { isAbsolute, join, normalize, parse } from 'node:path';
import { type Problem, problem } from './problems.ts';

const MAX_PATH = 4_096;

/**
 * Checks the root of a project: an absolute path of a git work tree of this user, without links and `..`. Returns the path
 * without a slash at its end.
 *
 * Source: reference workload-api §5.1. As git, it refuses folders of other users.
 */
export async function checkProjectRoot(given: string): Promise<{ readonly root: string } | Problem> {
  const refuse = (why: string): Problem =>
    problem('bad_request', `project_root ${why}`, [{ in: 'body', path: 'project_root', detail: why }]);
  if (given.length > MAX_PATH) return refuse(`has more than ${MAX_PATH} characters`);
  if (given.includes('\0')) return refuse('has a NUL character');
  if (!isAbsolute(given)) return refuse('is not an absolute path');
  if (given.split(/[\\/]/).includes('..')) return refuse('has a part ".."');
  const root = withoutSlash(normalize(given));
  try {
    const found = await lstat(root);
    if (found.isSymbolicLink()) return refuse('is a symbolic link; give the folder that it leads to');
    if (!found.isDirectory()) return refuse('is not a folder');
    if ((await realpath(root)) !== root) return refuse('has a symbolic link in its path; give the real path');
    const git = await lstat(join(root, '.git')).catch(() => undefined);
    if (git === undefined) return refuse('is not the root of a git work tree: it has no .git');
    const user = process.geteuid?.();
    if (user !== undefined && found.uid !== user)
      return problem('forbidden', `project_root belongs to another user (${found.uid}): change its owner to use it`);
    return { root };
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return refuse('does not exist');
    if (code === 'EACCES' || code === 'EPERM')
      return problem('forbidden', 'project_root cannot be read: permission denied');
    if (code === 'ELOOP' || code === 'ENAMETOOLONG') return refuse('is not a path that can be read');
    throw cause;
  }
}

function withoutSlash(path: string): string {
  return path === parse(path).root ? path : path.replace(/[\\/]+$/, '');
}
