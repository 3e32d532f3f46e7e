import { KeyringError, osKeyring } from '@toolmgr/plugins/kit/secrets';
import { passwordFilePath, readPasswordFile, writePasswordFile } from './password-file.ts';

/** Where the password of an encrypted file is kept, so that commands do not ask for it. */
export type PasswordPlace = 'keyring' | 'file';

/** A password that is kept beside the one before. `finish` removes that one. */
export interface KeptPassword {
  readonly place: PasswordPlace;
  finish(): Promise<void>;
}

/** The account of a password that is not in force yet. */
const next = (id: string): string => `${id} next`;

/** The passwords that are kept for a file, the likeliest first; after a kill during a change there are two. */
export async function keptPasswords(secrets: string, id: string): Promise<readonly string[]> {
  const ofKeyring = await Promise.all([osKeyring(id).read(), osKeyring(next(id)).read()]).catch(orNone);
  const ofFile = await readPasswordFile(passwordFilePath(secrets), id);
  return [...(ofKeyring ?? []), ...ofFile].filter((password) => password !== undefined);
}

/**
 * Keeps a password before the file is encrypted with it: in the keyring, else in a file of mode 0600. The one before stays, so
 * that the secrets can be opened whenever the process is killed. `finish` removes it.
 */
export async function keepPassword(secrets: string, id: string, password: string): Promise<KeptPassword>;
/** `undefined`: there is no keyring. */
export async function keepPassword(
  secrets: string,
  id: string,
  password: string,
  where: { readonly inKeyringOnly: true },
): Promise<KeptPassword | undefined>;
export async function keepPassword(
  secrets: string,
  id: string,
  password: string,
  where?: { readonly inKeyringOnly: true },
): Promise<KeptPassword | undefined> {
  const path = passwordFilePath(secrets);
  if (await keptInKeyring(next(id), password)) {
    return {
      place: 'keyring',
      async finish() {
        await osKeyring(id).write(password);
        await osKeyring(next(id)).remove();
        await writePasswordFile(path, id, []);
      },
    };
  }
  if (where?.inKeyringOnly) return undefined;
  await writePasswordFile(path, id, [...(await readPasswordFile(path, id)).slice(0, 1), password]);
  return { place: 'file', finish: () => writePasswordFile(path, id, [password]) };
}

async function keptInKeyring(id: string, password: string): Promise<boolean> {
  const keyring = osKeyring(id);
  const isKept = await keyring
    .write(password)
    .then(async () => (await keyring.read()) === password)
    .catch(orNone);
  return isKept === true;
}

function orNone(cause: unknown): undefined {
  if (cause instanceof KeyringError) return undefined;
  throw cause;
}
