import { lstatSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * Folder in which Node keeps compiled code for the next start, as `bin/toolmgr.js` uses it too. It belongs to the user,
 * because a writer of the cache controls what runs; `undefined` when others may write it.
 */
export function compileCacheDir({ XDG_CACHE_HOME: given }: NodeJS.ProcessEnv = process.env): string | undefined {
  const folder = join(given?.startsWith('/') ? given : join(homedir(), '.cache'), 'toolmgr');
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const found = lstatSync(folder);
    const isOwned = process.getuid === undefined || (found.uid === process.getuid() && (found.mode & 0o002) === 0);
    return found.isDirectory() && isOwned ? folder : undefined;
  } catch {
    return undefined;
  }
}
