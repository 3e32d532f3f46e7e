// Where a host keeps the secrets of a user: the encrypted file, its password, and the other stores.

export { AskAborted, askHidden, isAskable } from './encrypted/ask-hidden.ts';
export {
  createEncryptedFile,
  type EncryptedFile,
  encryptedFile,
  headerOf,
  type SecretScope,
} from './encrypted/encrypted-file.ts';
export { newHeader, PASSWORD_COST, RANDOM_PASSWORD_COST } from './encrypted/file-header.ts';
export { keepPassword } from './encrypted/kept-password.ts';
export { passwordFilePath } from './encrypted/password-file.ts';
export type { FileKey } from './encrypted/sealed-text.ts';
export { secretsPath } from './encrypted/secrets-path.ts';
export { PASSWORD_VARIABLE, unlocker } from './encrypted/unlock.ts';
export { keyringStore } from './keyring/keyring-store.ts';
export { onePasswordStore } from './one-password/one-password-store.ts';
