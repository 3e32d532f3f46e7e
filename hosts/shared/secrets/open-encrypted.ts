import {
  type EncryptedFile,
  encryptedFile,
  type FileKey,
  isAskable,
  secretsPath,
  unlocker,
} from '@toolmgr/plugins/secrets';
import { stderr } from '../terminal.ts';
import { ask } from './ask.ts';

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

function warnOnStderr(line: string): void {
  stderr.line(`${stderr.yellow('warning')} ${line}`);
}
