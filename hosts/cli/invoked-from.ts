import { dirname, join, resolve } from 'node:path';

/**
 * Goes to the folder in which the person stands, so that relative paths mean what they typed. npm runs the scripts of this
 * repository in the repository's folder, whatever `--prefix` or folder it was called from, and says in `INIT_CWD` where
 * that was. Another package's scripts stay where npm put them, as those of every tool do.
 */
export function enterInvocationFolder(env: NodeJS.ProcessEnv = process.env): void {
  const { INIT_CWD: folder, npm_package_json: manifest, npm_lifecycle_event: script } = env;
  if (!folder || !manifest || script !== SCRIPT || resolve(manifest) !== OWN_MANIFEST) return;
  if (process.cwd() !== dirname(OWN_MANIFEST)) return; // somebody went elsewhere on purpose
  try {
    process.chdir(folder);
  } catch {
    // it is gone: then the repository's folder is as good as any
  }
}

const SCRIPT = 'toolmgr';
const OWN_MANIFEST = join(import.meta.dirname, '..', '..', 'package.json');
