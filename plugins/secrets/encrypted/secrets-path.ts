import { homedir } from 'node:os';
import { join } from 'node:path';

/** Path of the encrypted secrets of this user: `toolmgr/secrets_encrypted` in the XDG data folder. */
export function secretsPath(env: Readonly<Record<string, string | undefined>>): string {
  // XDG base directory specification: a relative path is ignored
  const data = env.XDG_DATA_HOME?.startsWith('/') ? env.XDG_DATA_HOME : join(env.HOME ?? homedir(), '.local', 'share');
  return join(data, 'toolmgr', 'secrets_encrypted');
}
