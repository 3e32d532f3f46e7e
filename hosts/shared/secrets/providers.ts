/** Where the secrets of a user are: an encrypted file, or variables `TOOLMGR_SECRET_NAME`. */
export type SecretsProvider = 'encrypted' | 'environment';

/** All providers, for messages and help. */
export const PROVIDERS: readonly SecretsProvider[] = ['encrypted', 'environment'];
