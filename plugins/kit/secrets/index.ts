/** Secrets by reference, stores of secrets, and texts without secrets. */
export { type Keyring, KeyringError, keyringEntry, osKeyring } from './keyring/os-keyring.ts';
export { parsePartialJson } from './partial-json.ts';
export {
  readOptionalSecret,
  readOptionalSecretFrom,
  readSecret,
  readSecretFrom,
  type SecretSlots,
} from './read-secret.ts';
export { isSecretName, redacted, redactedText } from './redact.ts';
export { createSigner, type Sign, signatureOf } from './request-signer.ts';
export { secretOf } from './secret.ts';
export {
  isOnePasswordReference,
  MAX_SECRET_BYTES,
  SECRET_KEY,
  SECRET_NAME,
  secretKeyProblem,
  secretNameProblem,
  VARIABLE_REFERENCE,
} from './secret-name.ts';
export { readSecretBytes, readSecretReference, type SecretReference, secretReference } from './secret-reference.ts';
export { DamagedSecrets, type ListedSecret, type SecretCapabilities, type SecretStore } from './secret-store.ts';
