import { PASSWORD_VARIABLE } from '@toolmgr/plugins/secrets';
import { ask } from '../../shared/secrets/ask.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { readAll } from './read-all.ts';

/** Characters of a password that a user chooses. */
const MIN_LENGTH = 8;
const MAX_BYTES = 1024;

/** Reads a new password: twice from the terminal, or the text of stdin. @throws UsageError when it cannot be used */
export async function readNewPassword(): Promise<string> {
  if (!process.stdin.isTTY) return checked((await readAll(process.stdin, MAX_BYTES)).replace(/\r?\n$/, ''), 'stdin');
  const password = checked(await ask('New password of the secrets: '), 'the password');
  if ((await ask('Once more: ')) === password) return password;
  throw new UsageError('the two passwords differ: nothing was changed');
}

/** The password in the environment. @throws UsageError when it is too short for a new file */
export function passwordOfEnvironment(): string | undefined {
  const given = process.env[PASSWORD_VARIABLE];
  return given ? checked(given, PASSWORD_VARIABLE) : undefined;
}

function checked(password: string, where: string): string {
  if (password.length >= MIN_LENGTH) return password;
  throw new UsageError(`${where}: a password has at least ${MIN_LENGTH} characters`);
}
