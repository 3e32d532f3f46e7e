import { randomBytes, randomUUID } from 'node:crypto';
import { dirname } from 'node:path';
import { withLock } from '@toolmgr/plugins/kit/files';
import {
  createEncryptedFile,
  headerOf,
  keepPassword,
  newHeader,
  PASSWORD_COST,
  PASSWORD_VARIABLE,
  passwordFilePath,
  RANDOM_PASSWORD_COST,
  secretsPath,
} from '@toolmgr/plugins/secrets';
import { openEncrypted } from './open-encrypted.ts';
import { writeProvider } from './provider.ts';
import type { SecretsProvider } from './providers.ts';
import { openSecretStore } from './secret-store.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** A set-up without questions. */
export interface ProviderSetup {
  readonly provider: SecretsProvider;
  /** Of the encrypted file. Default: that of the environment, else one that is generated and kept. */
  readonly password?: string | undefined;
  readonly env: Environment;
  readonly signal: AbortSignal;
}

/**
 * Makes a provider the one of this user. It is tested first: a provider that does not work is not recorded. Resolves with a
 * sentence that says where the secrets are.
 * @throws GatewayFault SECRETS_UNAVAILABLE when it does not work
 */
export async function setUpProvider({ provider, password, env, signal }: ProviderSetup): Promise<string> {
  const said = provider === 'encrypted' ? await openOrMakeFile(env, password) : SAID[provider];
  await openSecretStore(provider, { env, asks: false }).test(signal);
  await writeProvider(provider, env);
  return said;
}

const SAID = {
  environment: 'secrets are read from variables TOOLMGR_SECRET_NAME',
  '1password': 'secrets are read from 1Password by references op://vault/item/field',
  keyring: 'secrets are in the keyring of the system',
} as const;

async function openOrMakeFile(env: Environment, given: string | undefined): Promise<string> {
  const path = secretsPath(env);
  return withPasswordLock(path, async () => {
    const header = await headerOf(path);
    if (header !== undefined) {
      const opening =
        given === undefined ? { env } : { env: { ...env, [PASSWORD_VARIABLE]: given }, withoutKeyring: true };
      await openEncrypted({ ...opening, asks: false }).read();
      if (given === undefined || env[PASSWORD_VARIABLE]) return `secrets are in ${path} already`;
      const kept = await keepPassword(path, header.id, given);
      await kept.finish();
      return `secrets are in ${path} already; their password is ${placeText(kept.place, path)}`;
    }
    const id = randomUUID();
    const ofVariable = given === undefined ? env[PASSWORD_VARIABLE] || undefined : undefined;
    const chosen = given ?? ofVariable;
    const password = chosen ?? randomBytes(32).toString('base64url');
    const kept = ofVariable === undefined ? await keepPassword(path, id, password) : undefined;
    await createEncryptedFile(
      path,
      await newHeader(password, chosen === undefined ? RANDOM_PASSWORD_COST : PASSWORD_COST, id),
    );
    await kept?.finish();
    const where = kept === undefined ? `that of ${PASSWORD_VARIABLE}` : placeText(kept.place, path);
    return `secrets are in ${path}; their password is ${where}`;
  });
}

/** How a change of the password ended. */
export type PasswordChange =
  | { readonly kind: 'changed'; readonly message: string }
  | { readonly kind: 'no-file' }
  | { readonly kind: 'of-variable' };

/**
 * Encrypts the file with another password, which is generated unless one is given. The old and the new password are kept until
 * the file is replaced, so a kill at any moment leaves secrets that can be opened.
 * @throws GatewayFault SECRETS_UNAVAILABLE when the file cannot be opened
 */
export async function changePassword(env: Environment, given: string | undefined): Promise<PasswordChange> {
  const path = secretsPath(env);
  if (env[PASSWORD_VARIABLE]) return { kind: 'of-variable' };
  return withPasswordLock(path, async () => {
    const header = await headerOf(path);
    if (header === undefined) return { kind: 'no-file' };
    const file = openEncrypted({ env, asks: false });
    await file.read();
    const password = given ?? randomBytes(32).toString('base64url');
    const kept = await keepPassword(path, header.id, password);
    await file.replaceKey(
      await newHeader(password, given === undefined ? RANDOM_PASSWORD_COST : PASSWORD_COST, header.id),
    );
    await kept.finish();
    return { kind: 'changed', message: `${path} has a new password, which is ${placeText(kept.place, path)}` };
  });
}

function placeText(place: 'keyring' | 'file', path: string): string {
  return place === 'keyring' ? 'in the keyring of the system' : `in ${passwordFilePath(path)}`;
}

function withPasswordLock<T>(path: string, act: () => Promise<T>): Promise<T> {
  return withLock(dirname(path), '.secrets-password', act);
}
