import { GatewayFault, type SecretSource } from '@toolmgr/core';
import { type EncryptedFile, secretsPath } from '@toolmgr/plugins/secrets';
import { ownCommand } from '../own-command.ts';
import type { Opening } from './open-encrypted.ts';
import { type ChosenProvider, chooseProvider } from './provider.ts';
import { fallbackOf, openSecretStore, SECRET_VARIABLE_PREFIX } from './secret-store.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The secrets of this user, from the chosen provider; a secret that it lacks may be a variable.
 * @throws UsageError when the provider is unknown
 */
export async function openUserSecrets(
  opening: Opening & { readonly file?: EncryptedFile } = {},
): Promise<SecretSource> {
  const { env = process.env } = opening;
  const chosen = await chooseProvider(env);
  const store = openSecretStore(chosen.provider, opening);
  return {
    async read(name, signal) {
      const value = (await store.read(name, signal)) ?? fallbackOf(env, name);
      if (value !== undefined) return value;
      throw new GatewayFault('SECRET_MISSING', missing(name, chosen, env));
    },
  };
}

function missing(name: string, { provider, chosenBy }: ChosenProvider, env: Environment): string {
  const variable = `${SECRET_VARIABLE_PREFIX}${name}`;
  if (provider === 'encrypted')
    return `${secretsPath(env)} has no secret ${name}: store it with ${ownCommand(`secret set ${name}`)}`;
  if (provider === 'keyring')
    return `the keyring has no secret ${name}: store it with ${ownCommand(`secret set ${name}`)}`;
  if (provider === '1password') return `1Password has no ${name}: expected a reference op://vault/item/field`;
  const advice =
    chosenBy === 'default'
      ? `set the variable ${variable}, or store secrets in an encrypted file: ${ownCommand('secret setup')}`
      : `the provider is environment, and the variable ${variable} is not set`;
  return `there is no secret ${name}: ${advice}`;
}
