import { GatewayFault, type SecretSource } from '@toolmgr/core';
import type { EncryptedFile, SecretScope } from './encrypted-file.ts';

/** Secrets of an encrypted file. The file is read again for each secret, so a changed one counts at the next start. */
export function encryptedSecrets(file: EncryptedFile, scope: SecretScope = 'user'): SecretSource {
  return {
    async read(name) {
      const secrets = await file.read();
      const value = secrets[scope].get(name);
      if (value !== undefined && value !== '') return value;
      throw new GatewayFault(
        'SECRET_MISSING',
        `${file.path} has no secret ${name}: store it with toolmgr secret set ${name}`,
      );
    },
  };
}
