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

/** The secrets of this user, from the chosen provider; a secret that the encrypted file lacks may be a variable. @throws UsageError when the provider is unknown */
export async function openUserSecrets(
  opening: Opening & { readonly file?: EncryptedFile } = {},
): Promise<SecretSource> {
  const { env = process.env, file } = opening;
  const chosen = await chooseProvider(env);
  const ofEnvironment = variables(env, chosen);
  if (chosen.provider === 'environment') return ofEnvironment;
  const ofFile = encryptedSecrets(file ?? openEncrypted(opening));
  return {
    read: (name, signal) =>
      ofFile.read(name, signal).catch((cause: unknown) => {
        const isMissing = cause instanceof GatewayFault && cause.code === 'SECRET_MISSING';
        if (isMissing && hasVariable(env, name)) return ofEnvironment.read(name, signal);
        throw cause;
      }),
  };
}

/** Prefix of the variables of the provider `environment`. */
export const SECRET_VARIABLE_PREFIX = 'TOOLMGR_SECRET_';

function variables(env: Environment, { chosenBy }: ChosenProvider): SecretSource {
  return {
    async read(name) {
      const variable = `${SECRET_VARIABLE_PREFIX}${name}`;
      const value = env[variable];
      if (hasVariable(env, name) && value !== undefined) return value;
      const advice =
        chosenBy === 'default'
          ? `set the variable ${variable}, or store secrets in an encrypted file: toolmgr secret setup`
          : `the provider is environment, and the variable ${variable} is not set`;
      throw new GatewayFault('SECRET_MISSING', `there is no secret ${name}: ${advice}`);
    },
  };
}

function hasVariable(env: Environment, name: string): boolean {
  const variable = `${SECRET_VARIABLE_PREFIX}${name}`;
  return Object.hasOwn(env, variable) && env[variable] !== '' && env[variable] !== undefined;
}

function warnOnStderr(line: string): void {
  stderr.line(`${stderr.yellow('warning')} ${line}`);
}
