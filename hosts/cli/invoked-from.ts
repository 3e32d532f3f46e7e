import { dirname, join, resolve } from 'node:path';

/**
 * Changes to the folder in which the user called `npm run toolmgr`, so that relative paths work as typed. npm runs the
 * scripts of this repository in the repository's folder and gives the user's folder in `INIT_CWD`. Scripts of other
 * packages keep the folder that npm chose, as with any tool.
 */
export function enterInvocationFolder(env: NodeJS.ProcessEnv = process.env): void {
  const { INIT_CWD: folder, npm_package_json: manifest, npm_lifecycle_event: script } = env;
  if (!folder || !manifest || script !== SCRIPT || resolve(manifest) !== OWN_MANIFEST) return;
  if (process.cwd() !== dirname(OWN_MANIFEST)) return; // the script changed the folder on purpose
  try {
    process.chdir(folder);
  } catch {
    // the folder no longer exists: stay in the repository's folder
  }
}

const SCRIPT = 'toolmgr';
const OWN_MANIFEST = join(import.meta.dirname, '..', '..', 'package.json');
