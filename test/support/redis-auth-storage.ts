import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Secrets of a storage in Redis, in files. */
export interface RedisSecretFiles extends AsyncDisposable {
  readonly password: string;
  /** `aclUserConfig` of `storage.redis`. */
  readonly aclUserConfig: { readonly passwordSecretRef: { readonly file: string } };
  readonly encryptionKeySecretRefs: readonly { readonly file: string }[];
}

/** Writes the files to a temporary folder. */
export async function redisSecretFiles(): Promise<RedisSecretFiles> {
  const folder = await mkdtemp(join(tmpdir(), 'toolmgr-auth-redis-'));
  const password = 'canary-password-of-redis';
  const [passwordFile, keyFile] = [join(folder, 'password'), join(folder, 'key')];
  await Promise.all([writeFile(passwordFile, password), writeFile(keyFile, 'canary-key-'.repeat(3))]);
  return {
    password,
    aclUserConfig: { passwordSecretRef: { file: passwordFile } },
    encryptionKeySecretRefs: [{ file: keyFile }],
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
