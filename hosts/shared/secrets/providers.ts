/** All providers, for messages and help. `keyring` is ours, the others are those of the contract. */
export const PROVIDERS = ['encrypted', '1password', 'environment', 'keyring'] as const;

/**
 * Where the secrets of a user are: an encrypted file, items of 1Password, variables `TOOLMGR_SECRET_NAME`, or the keyring of the
 * operating system.
 */
export type SecretsProvider = (typeof PROVIDERS)[number];
