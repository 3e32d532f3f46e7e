import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * Folder in which Node keeps compiled code for the next start, as `bin/toolmgr.js` uses it too. It belongs to the user,
 * because a writer of the cache controls what runs.
 */
export function compileCacheDir({ XDG_CACHE_HOME: given }: NodeJS.ProcessEnv = process.env): string {
  return join(given?.startsWith('/') ? given : join(homedir(), '.cache'), 'toolmgr');
}
