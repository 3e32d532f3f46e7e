// What hosts use of the encrypted secrets: the file itself, its password and its keyring.

export { MAX_SECRET_BYTES, SECRET_NAME, secretNameProblem } from '../../shared/secret-name.ts';
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
export { type Keyring, KeyringError, osKeyring } from './keyring.ts';
export type { FileKey } from './sealed-text.ts';
export { secretsPath } from './secrets-path.ts';
export { PASSWORD_VARIABLE, type Unlocking, unlocker } from './unlock.ts';
