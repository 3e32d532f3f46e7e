import { constants } from 'node:fs';
import { mkdir, open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { GatewayFault } from '@toolmgr/core';
import { atomicWrite } from '@toolmgr/plugins/kit/files';

/** Path of the password of an encrypted file, for machines without a keyring: `secrets_password` beside it, mode 0600. */
export function passwordFilePath(secrets: string): string {
  return join(dirname(secrets), 'secrets_password');
}

/**
 * Reads the passwords that are kept for the file with this id, the current one first; during a change there are two.
 * @throws GatewayFault SECRETS_UNAVAILABLE when other users can read it
 */
export async function readPasswordFile(path: string, id: string): Promise<readonly string[]> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined;
    throw new GatewayFault('SECRETS_UNAVAILABLE', `${path} cannot be read (${cause.code})`);
  });
  if (file === undefined) return [];
  try {
    const { mode, uid, size } = await file.stat();
    const own = process.getuid?.();
    if (own !== undefined && ((mode & 0o077) !== 0 || (uid !== own && own !== 0)))
      throw new GatewayFault(
        'SECRETS_UNAVAILABLE',
        `${path} can be read by other users: chmod 600 it, and change the password`,
      );
    if (size > MAX_BYTES) return [];
    const [kept, ...passwords] = (await file.readFile('utf8')).split('\n');
    return kept === id ? passwords.filter((line) => line !== '') : [];
  } finally {
    await file.close();
  }
}

/** Writes the passwords of a file; none removes it. */
export async function writePasswordFile(path: string, id: string, passwords: readonly string[]): Promise<void> {
  if (passwords.length === 0) return rm(path, { force: true });
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await atomicWrite(path, `${[id, ...passwords].join('\n')}\n`);
}

const MAX_BYTES = 16 * 1024;
