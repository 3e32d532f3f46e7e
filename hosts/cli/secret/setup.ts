import { randomBytes, randomUUID } from 'node:crypto';
import { missingPackage } from '@toolmgr/core';
import { KeyringError, osKeyring } from '@toolmgr/plugins/kit/secrets';
import {
  createEncryptedFile,
  headerOf,
  isAskable,
  keepPassword,
  newHeader,
  PASSWORD_COST,
  PASSWORD_VARIABLE,
  RANDOM_PASSWORD_COST,
  secretsPath,
} from '@toolmgr/plugins/secrets';
import { ownCommand } from '../../shared/own-command.ts';
import { openEncrypted } from '../../shared/secrets/open-encrypted.ts';
import { writeProvider } from '../../shared/secrets/provider.ts';
import type { SecretsProvider } from '../../shared/secrets/providers.ts';
import { setUpProvider } from '../../shared/secrets/set-up-provider.ts';
import { stderr, stdout } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { passwordOfEnvironment, readNewPassword } from './new-password.ts';

/** Flags of `secret setup`. */
export interface SetupFlags {
  readonly provider: SecretsProvider;
  readonly newPassword?: boolean;
  readonly keyring: boolean;
}

const TEST_MS = 60_000;

/** Where the password of a new file is from then on. */
type KeptIn = 'variable' | 'keyring' | 'user';

/**
 * `toolmgr secret setup`: makes the encrypted file, or opens the one that is there, and makes it the provider.
 * @throws UsageError when there is no place for the password
 */
export async function setup({ provider, newPassword = false, keyring }: SetupFlags): Promise<void> {
  if (provider !== 'encrypted') {
    if (newPassword) throw new UsageError('--new-password is for the provider encrypted');
    return stdout.line(await setUpProvider({ provider, env: process.env, signal: AbortSignal.timeout(TEST_MS) }));
  }
  const path = secretsPath(process.env);
  const header = await headerOf(path);
  if (header === undefined) await create(path, newPassword, keyring);
  else if (newPassword) await changePassword(path, header.id, keyring);
  else {
    await openEncrypted({ withoutKeyring: !keyring }).read();
    stdout.line(`secrets are in ${path} already`);
  }
  await writeProvider(provider);
}

async function create(path: string, newPassword: boolean, useKeyring: boolean): Promise<void> {
  const id = randomUUID();
  const { password, isRandom, keptIn } = await choosePassword(id, newPassword, useKeyring);
  const key = await newHeader(password, isRandom ? RANDOM_PASSWORD_COST : PASSWORD_COST, id);
  if (!(await createEncryptedFile(path, key))) throw new UsageError(`another command has made ${path}: try again`);
  stdout.line(`secrets are in ${path}`);
  stdout.line(KEPT[keptIn]);
  stdout.line();
  stdout.line(`  store one    ${ownCommand('secret set NAME')}`);
  stdout.line(`  use it       ${ownCommand('run --secret NAME,target=VARIABLE TARGET')}`);
}

const KEPT: Readonly<Record<KeptIn, string>> = {
  variable: `their password is that of ${PASSWORD_VARIABLE}`,
  keyring: 'their password is in the keyring of the system; without it they cannot be read',
  user: `their password is kept nowhere: commands ask for it, or read ${PASSWORD_VARIABLE}`,
};

async function choosePassword(id: string, newPassword: boolean, useKeyring: boolean) {
  const given = newPassword ? undefined : passwordOfEnvironment();
  if (given !== undefined) return { password: given, isRandom: false, keptIn: 'variable' as KeptIn };
  const chosen = newPassword ? await readNewPassword() : undefined;
  const password = chosen ?? randomBytes(32).toString('base64url');
  if (useKeyring && (await keep(id, password))) {
    return { password, isRandom: chosen === undefined, keptIn: 'keyring' as KeptIn };
  }
  if (chosen !== undefined) return { password: chosen, isRandom: false, keptIn: 'user' as KeptIn };
  if (isAskable()) return { password: await readNewPassword(), isRandom: false, keptIn: 'user' as KeptIn };
  throw new UsageError(
    `${useKeyring ? 'the keyring of the system is not available, so the' : 'the'} secrets need a password: set ${PASSWORD_VARIABLE}, ` +
      'or run the command on a terminal, which asks for one',
  );
}

async function changePassword(path: string, id: string, useKeyring: boolean): Promise<void> {
  const file = openEncrypted();
  await file.read(); // the old password first
  const password = await readNewPassword();
  // kept before the file is replaced, beside the old one: a kill leaves secrets that can be opened
  const kept = useKeyring ? await keepPassword(path, id, password, { inKeyringOnly: true }) : undefined;
  await file.replaceKey(await newHeader(password, PASSWORD_COST, id));
  await kept?.finish();
  stdout.line(`${path} has a new password`);
  const isKept = kept !== undefined;
  if (!isKept) await osKeyring(id).remove().catch(ignoreAbsence); // it would be the old one
  stdout.line(isKept ? KEPT.keyring : KEPT.user);
  if (process.env[PASSWORD_VARIABLE]) stderr.line(`${PASSWORD_VARIABLE} still has the old one`);
}

/** Stores a password in the keyring; `false` when there is none, or it does not return what was stored. */
async function keep(id: string, password: string): Promise<boolean> {
  const keyring = osKeyring(id);
  try {
    await keyring.write(password);
    return (await keyring.read()) === password;
  } catch (cause) {
    ignoreAbsence(cause);
    const missing = missingPackage(cause instanceof Error ? cause.cause : undefined);
    if (missing !== undefined) stderr.line(missing);
    return false;
  }
}

function ignoreAbsence(cause: unknown): void {
  if (!(cause instanceof KeyringError)) throw cause;
}
