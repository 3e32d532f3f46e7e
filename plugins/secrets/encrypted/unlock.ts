import { GatewayFault } from '@toolmgr/core';
import { KeyringError, osKeyring } from '@toolmgr/plugins/kit/secrets';
import { type FileHeader, keyFrom } from './file-header.ts';
import { keptPasswords } from './kept-password.ts';
import type { FileKey } from './sealed-text.ts';

/** Variable with the password of the encrypted secrets. */
export const PASSWORD_VARIABLE = 'TOOLMGR_SECRETS_PASSWORD';

/** Where the password of a file comes from. */
export interface Unlocking {
  readonly path: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Asks the user; absent without a terminal. */
  readonly ask?: (question: string) => Promise<string>;
  /** A key that another process derived. */
  readonly known?: FileKey;
  /** Does not use the keyring. */
  readonly withoutKeyring?: boolean;
}

/**
 * Makes the function that finds the key of a file: a known key, the variable {@link PASSWORD_VARIABLE}, the keyring, the
 * password file, then the user. Keys are kept in memory, because deriving one takes long.
 *
 * It throws GatewayFault SECRETS_UNAVAILABLE when no password opens the file; the message says what to do.
 */
export function unlocker(from: Unlocking): (header: FileHeader, line: string) => Promise<Buffer> {
  const keys = new Map<string, Promise<Buffer>>();
  if (from.known !== undefined) keys.set(from.known.header, Promise.resolve(from.known.key));
  return (header, line) => {
    const known = keys.get(line);
    if (known !== undefined) return known;
    const key = findKey(from, header);
    keys.set(line, key);
    key.catch(() => keys.delete(line));
    return key;
  };
}

async function findKey({ path, env, ask, withoutKeyring }: Unlocking, header: FileHeader): Promise<Buffer> {
  const given = env[PASSWORD_VARIABLE];
  if (given) return (await keyFrom(given, header)) ?? refuse(path, `the password in ${PASSWORD_VARIABLE} is wrong`);
  const kept = withoutKeyring ? 'it is not used here' : await keyOfKept(path, header);
  if (typeof kept !== 'string') return kept;
  if (ask === undefined) {
    const advice = `set ${PASSWORD_VARIABLE}, or run the command on a terminal, which asks for the password`;
    return refuse(path, `there is no password: ${PASSWORD_VARIABLE} is not set, and the keyring: ${kept}. ${advice}`);
  }
  for (let tries = 0; tries < ASK_TRIES; tries++) {
    const key = await keyFrom(await ask(tries === 0 ? 'Password of the secrets: ' : 'Wrong. Password: '), header);
    if (key !== undefined) return key;
  }
  return refuse(path, 'the password is wrong');
}

/** The key of a kept password, or why there is none. */
async function keyOfKept(path: string, header: FileHeader): Promise<Buffer | string> {
  const passwords = await keptPasswords(path, header.id);
  for (const password of passwords) {
    const key = await keyFrom(password, header);
    if (key !== undefined) return key;
  }
  if (passwords.length > 0) return 'its password is wrong (toolmgr secret reset-keyring)';
  const isThere = await osKeyring(header.id)
    .read()
    .then(() => true)
    .catch(ofKeyringOnly);
  return isThere ? 'it has no password for this file' : 'it is not available';
}

function ofKeyringOnly(cause: unknown): false {
  if (cause instanceof KeyringError) return false;
  throw cause;
}

function refuse(path: string, why: string): never {
  throw new GatewayFault('SECRETS_UNAVAILABLE', `${path} cannot be opened: ${why}`);
}

const ASK_TRIES = 3;
