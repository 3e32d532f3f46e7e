// What hosts use of the encrypted secrets: the file itself, its password and its keyring.

export {
  isOnePasswordReference,
  type Keyring,
  KeyringError,
  keyringEntry,
  MAX_SECRET_BYTES,
  osKeyring,
  SECRET_NAME,
  secretKeyProblem,
  secretNameProblem,
} from '@toolmgr/plugins/kit/secrets';
export { AskAborted, askHidden, isAskable } from './ask-hidden.ts';
export {
  createEncryptedFile,
  type EncryptedFile,
  encryptedFile,
  headerOf,
  type SecretScope,
  type SecretTable,
} from './encrypted-file.ts';
export { encryptedSecrets } from './encrypted-secrets.ts';
export { newHeader, PASSWORD_COST, RANDOM_PASSWORD_COST } from './file-header.ts';
export { keepPassword, keptPasswords, type PasswordPlace } from './kept-password.ts';
export { passwordFilePath } from './password-file.ts';
export type { FileKey } from './sealed-text.ts';
export { secretsPath } from './secrets-path.ts';
export { PASSWORD_VARIABLE, type Unlocking, unlocker } from './unlock.ts';
