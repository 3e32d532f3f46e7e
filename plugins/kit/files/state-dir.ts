import { homedir } from 'node:os';
import { join } from 'node:path';

/** Folder of everything that is kept between runs: `TOOLMGR_STATE_DIR`, else `toolmgr` in the XDG state folder. */
export function stateDir(env: Readonly<Record<string, string | undefined>>): string {
  if (env.TOOLMGR_STATE_DIR) return env.TOOLMGR_STATE_DIR;
  // XDG base directory specification: a relative path is ignored
  if (env.XDG_STATE_HOME?.startsWith('/')) return join(env.XDG_STATE_HOME, 'toolmgr');
  return join(env.HOME ?? homedir(), '.local', 'state', 'toolmgr');
}
