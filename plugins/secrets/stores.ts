// Providers of secrets as stores: what commands and the manager use.

export type { ListedSecret, SecretCapabilities, SecretStore } from '@toolmgr/plugins/kit/secrets';
export { keyringStore } from './keyring/keyring-store.ts';
export { onePasswordStore } from './one-password/one-password-store.ts';
