import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEncryptedFile, type EncryptedFile, encryptedFile, newHeader, unlocker } from '@toolmgr/plugins/secrets';

export const PASSWORD = 'correct horse';
/** Derives in a few milliseconds. */
export const QUICK = { N: 1024, r: 8, p: 1 };

/** A new encrypted file in a folder of its own. */
export interface Stored extends AsyncDisposable {
  readonly path: string;
  readonly folder: string;
  /** Lines about repairs. */
  readonly warnings: string[];
  /** Opens it with a password, as a process of its own would. */
  open(password?: string): EncryptedFile;
}

export async function newStored(secrets: Readonly<Record<string, string>> = {}): Promise<Stored> {
  const folder = await mkdtemp(join(tmpdir(), 'toolmgr-encrypted-'));
  const path = join(folder, 'secrets_encrypted');
  await createEncryptedFile(path, await newHeader(PASSWORD, QUICK));
  const warnings: string[] = [];
  const open = (password = PASSWORD): EncryptedFile =>
    encryptedFile({
      path,
      unlock: unlocker({ path, env: { TOOLMGR_SECRETS_PASSWORD: password } }),
      warn: (line) => void warnings.push(line),
    });
  if (Object.keys(secrets).length > 0) {
    await open().change(({ user }) => {
      for (const [name, value] of Object.entries(secrets)) user.set(name, value);
    });
  }
  return {
    path,
    folder,
    warnings,
    open,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
