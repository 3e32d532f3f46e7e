import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { atomicWrite } from '@toolmgr/plugins/kit/files';
import { UsageError } from '../../shared/usage-error.ts';
import { readOwnFile, serverFolder } from './own-folder.ts';

/** Path of the token of local callers. */
export function tokenPath(state: string): string {
  return join(serverFolder(state), 'token');
}

/** Reads the token; it is made at the first start and kept. The folder exists. @throws UsageError when it is not safe */
export async function openToken(state: string): Promise<string> {
  const path = tokenPath(state);
  const known = (await readOwnFile(path))?.trim();
  if (known === undefined) {
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    await atomicWrite(path, `${token}\n`);
    return token;
  }
  if (!/^[\w-]{32,256}$/.test(known)) {
    throw new UsageError(
      `${path} has no token of at least 32 letters, digits, "-" and "_": remove it, and it is made again`,
    );
  }
  return known;
}

const TOKEN_BYTES = 32;
