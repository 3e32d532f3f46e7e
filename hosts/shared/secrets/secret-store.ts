import { dirname, join } from 'node:path';
import { DamagedSecrets, type SecretStore } from '@toolmgr/plugins/kit/secrets';
import { type EncryptedFile, keyringStore, onePasswordStore, secretsPath } from '@toolmgr/plugins/secrets';
import { type Opening, openEncrypted } from './open-encrypted.ts';
import type { SecretsProvider } from './providers.ts';

/** Prefix of the variables of the provider `environment`. */
export const SECRET_VARIABLE_PREFIX = 'TOOLMGR_SECRET_';

/** Variable that switches off that a variable stands in for a secret that the provider lacks. */
export const NO_FALLBACK_VARIABLE = 'TOOLMGR_DISABLE_ENV_FALLBACK';

type Environment = Readonly<Record<string, string | undefined>>;

/** The secrets of a user with a provider. Nothing is read before the first use. */
export function openSecretStore(
  provider: SecretsProvider,
  opening: Opening & { readonly file?: EncryptedFile } = {},
): SecretStore {
  const { env = process.env } = opening;
  if (provider === 'environment') return environmentStore(env);
  if (provider === '1password') return onePasswordStore({ env });
  if (provider === 'keyring') return keyringStore(join(dirname(secretsPath(env)), 'keyring_secrets.json'));
  return encryptedStore(opening.file ?? openEncrypted(opening));
}

/** The value of the variable that stands in for a secret; `undefined` when there is none, or it is switched off. */
export function fallbackOf(env: Environment, name: string): string | undefined {
  return env[NO_FALLBACK_VARIABLE] === 'true' ? undefined : variableOf(env, name);
}

function variableOf(env: Environment, name: string): string | undefined {
  const variable = `${SECRET_VARIABLE_PREFIX}${name}`;
  return Object.hasOwn(env, variable) && env[variable] !== '' ? env[variable] : undefined;
}

function environmentStore(env: Environment): SecretStore {
  return {
    capabilities: { can_read: true, can_write: false, can_delete: false, can_list: false, can_cleanup: false },
    read: async (name) => variableOf(env, name),
    test: async () => {},
  };
}

function encryptedStore(file: EncryptedFile): SecretStore {
  return {
    capabilities: { can_read: true, can_write: true, can_delete: true, can_list: true, can_cleanup: true },
    read: async (name) => (await file.read()).user.get(name) || undefined,
    async write(name, value, mode) {
      let outcome: 'written' | 'exists' | 'missing' = 'written';
      await file.change(({ user }) => {
        const exists = user.has(name);
        outcome = mode === 'create' && exists ? 'exists' : mode === 'update' && !exists ? 'missing' : 'written';
        if (outcome === 'written') user.set(name, value);
      });
      return outcome;
    },
    async remove(name) {
      let was = false;
      await file.change(({ user }) => {
        was = user.delete(name);
      });
      return was;
    },
    list: async () =>
      [...(await file.read()).user.keys()].sort().map((key) => ({ key, description: 'in the encrypted file' })),
    async test() {
      // the probe is in the scope that no one sees, and is never left there
      const probe = `probe/${process.pid}`;
      await file.change(({ system }) => void system.set(probe, 'probe'));
      const isKept = (await file.read()).system.get(probe) === 'probe';
      await file.change(({ system }) => void system.delete(probe));
      if (!isKept) throw new DamagedSecrets(`${file.path} does not return what was stored`);
    },
  };
}
