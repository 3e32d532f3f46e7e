import { missingPackage } from '@toolmgr/core';

/** Keeps one password in the keyring of the operating system. */
export interface Keyring {
  /** `undefined` when there is none. @throws KeyringError */
  read(): Promise<string | undefined>;
  /** @throws KeyringError */
  write(password: string): Promise<void>;
  /** Whether there was one. @throws KeyringError */
  remove(): Promise<boolean>;
}

/** The keyring is missing, locked or does not answer. */
export class KeyringError extends Error {}

/** The password of the encrypted file with this id, see {@link keyringEntry}. */
export function osKeyring(id: string): Keyring {
  return keyringEntry(`secrets ${id}`);
}

/**
 * One entry of toolmgr: in the login keyring of macOS, the Windows Credential Manager, or on Linux the
 * Secret Service. The kernel keyring of Linux is not used, because it is empty after a restart.
 */
export function keyringEntry(account: string): Keyring {
  const use = async <T>(act: (entry: Entry, signal: AbortSignal) => Promise<T>): Promise<T> => {
    try {
      const { AsyncEntry } = await import('@napi-rs/keyring');
      const entry = new AsyncEntry(SERVICE, account, { linux: { store: 'secret-service' } });
      // a keyring may ask the user to unlock it
      return await within(KEYRING_MS, (signal) => act(entry, signal));
    } catch (cause) {
      const why = missingPackage(cause) ?? 'the keyring of the operating system is not available';
      throw new KeyringError(why, { cause });
    }
  };
  return {
    read: () => use(async (entry, signal) => (await entry.getPassword(signal)) ?? undefined),
    write: (password) => use((entry, signal) => entry.setPassword(password, signal)),
    remove: () => use((entry, signal) => entry.deleteCredential(signal)),
  };
}

/** The part of a keyring entry that is used here. */
interface Entry {
  getPassword(signal: AbortSignal): Promise<string | null>;
  setPassword(password: string, signal: AbortSignal): Promise<void>;
  deleteCredential(signal: AbortSignal): Promise<boolean>;
}

/** A call in the keyring's library cannot be interrupted once it runs, so it is left behind. */
async function within<T>(ms: number, act: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const signal = AbortSignal.timeout(ms);
  const timedOut = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('it did not answer in time')), { once: true });
  });
  return Promise.race([act(signal), timedOut]);
}

const SERVICE = 'toolmgr';
const KEYRING_MS = 20_000;
