import { GatewayFault, type SecretSource } from '@toolmgr/core';
import {
  type EncryptedFile,
  encryptedFile,
  encryptedSecrets,
  type FileKey,
  isAskable,
  secretsPath,
  unlocker,
} from '@toolmgr/plugins/secrets/encrypted';
import { stderr } from '../terminal.ts';
import { ask } from './ask.ts';
import { type ChosenProvider, chooseProvider } from './provider.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** How the encrypted file is opened. */
export interface Opening {
  readonly env?: Environment;
  /** A key that another process derived. */
  readonly known?: FileKey;
  /** Asks for the password on the terminal. Default: when there is one. */
  readonly asks?: boolean;
  readonly withoutKeyring?: boolean;
  readonly warn?: (line: string) => void;
}

/** The encrypted secrets of this user. Nothing is read, and no password is asked for, before the first use. */
export function openEncrypted(opening: Opening = {}): EncryptedFile {
  const { env = process.env, known, asks = isAskable(), withoutKeyring, warn = warnOnStderr } = opening;
  const path = secretsPath(env);
  const unlock = unlocker({
    path,
    env,
    ...(asks ? { ask } : {}),
    ...(known === undefined ? {} : { known }),
    ...(withoutKeyring === undefined ? {} : { withoutKeyring }),
  });
  return encryptedFile({ path, unlock, warn });
}

/** The secrets of this user, from the chosen provider. @throws UsageError when the provider is unknown */
export async function openUserSecrets(opening: Opening = {}): Promise<SecretSource> {
  const { env = process.env } = opening;
  const chosen = await chooseProvider(env);
  return chosen.provider === 'encrypted' ? encryptedSecrets(openEncrypted(opening)) : variables(env, chosen);
}

/** Prefix of the variables of the provider `environment`. */
export const SECRET_VARIABLE_PREFIX = 'TOOLMGR_SECRET_';

function variables(env: Environment, { chosenBy }: ChosenProvider): SecretSource {
  return {
    async read(name) {
      const variable = `${SECRET_VARIABLE_PREFIX}${name}`;
      const value = Object.hasOwn(env, variable) ? env[variable] : undefined;
      if (value) return value;
      const advice =
        chosenBy === 'default'
          ? `set the variable ${variable}, or store secrets in an encrypted file: toolmgr secret setup`
          : `the provider is environment, and the variable ${variable} is not set`;
      throw new GatewayFault('SECRET_MISSING', `there is no secret ${name}: ${advice}`);
    },
  };
}

function warnOnStderr(line: string): void {
  stderr.line(`${stderr.yellow('warning')} ${line}`);
}
