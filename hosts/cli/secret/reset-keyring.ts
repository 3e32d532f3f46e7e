import { KeyringError, osKeyring } from '@toolmgr/plugins/kit/secrets';
import { headerOf, isAskable, PASSWORD_VARIABLE, secretsPath } from '@toolmgr/plugins/secrets';
import { ownCommand } from '../../shared/own-command.ts';
import { ask } from '../../shared/secrets/ask.ts';
import { openEncrypted } from '../../shared/secrets/open-encrypted.ts';
import { stdout } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';

/**
 * `toolmgr secret reset-keyring`: stores the password in the keyring, or removes it. In both cases the user must have the
 * password, so that the secrets stay readable.
 * @throws UsageError when there is no file, no password or no keyring
 */
export async function resetKeyring({ remove = false }: { remove?: boolean }): Promise<void> {
  const header = await headerOf(secretsPath(process.env));
  if (header === undefined)
    throw new UsageError(`there are no encrypted secrets: make them with ${ownCommand('secret setup')}`);
  const password = process.env[PASSWORD_VARIABLE] || (isAskable() ? await ask('Password of the secrets: ') : '');
  if (password === '') throw new UsageError(`the password is needed: set ${PASSWORD_VARIABLE}, or use a terminal`);
  const env = { ...process.env, [PASSWORD_VARIABLE]: password };
  await openEncrypted({ env, asks: false, withoutKeyring: true }).read();
  const keyring = osKeyring(header.id);
  try {
    if (remove) await keyring.remove();
    else await keyring.write(password);
  } catch (cause) {
    if (cause instanceof KeyringError) throw new UsageError(cause.message);
    throw cause;
  }
  stdout.line(remove ? 'the password is no longer in the keyring' : 'the password is in the keyring');
}
