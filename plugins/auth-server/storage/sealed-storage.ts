import { createOutageLog, type Log } from '@toolmgr/core';
import { isSealed, type KeyRing } from './key-ring.ts';
import type { AuthStorage, StoredRecord } from './storage.ts';

const REPEAT_LOG_MS = 10 * 60_000;

/** What the encryption of a storage needs. */
export interface SealOptions {
  readonly ring: KeyRing;
  /** Names the gateway, so that a record of another gateway with the same secret does not decrypt. */
  readonly prefix: string;
  /**
   * Records without encryption are read. Otherwise they are refused, because an attacker who can write to the storage could
   * write a record for any person.
   */
  readonly readUnencrypted: boolean;
  readonly core: { readonly log: Log; now(): number };
}

/**
 * Encrypts all records of a storage. Keys and members of sets stay readable: they are ids and hashes, never secrets.
 *
 * A record that cannot be decrypted (its secret was removed, or it was changed or moved) counts as absent, and is overwritten:
 * people and clients then sign in or register again. The log has a warning.
 */
export function createSealedStorage(
  inner: AuthStorage,
  { ring, prefix, readUnencrypted, core }: SealOptions,
): AuthStorage {
  const unreadable = createOutageLog(core, {
    began: 'stored records of the authorization server cannot be read, and count as absent',
    over: '',
    counted: 'records',
    repeatMs: REPEAT_LOG_MS,
  });
  const opened = (key: string, record: StoredRecord | undefined): StoredRecord | undefined => {
    if (record === undefined) return undefined;
    try {
      if (isSealed(record.value)) return { ...record, value: ring.open(prefix + key, record.value) };
    } catch (cause) {
      unreadable.failed(cause);
      return undefined;
    }
    if (readUnencrypted) return record;
    unreadable.failed('they are not encrypted; storage.readUnencrypted reads records from before the encryption');
    return undefined;
  };
  return {
    ...inner,
    get: async (key) => opened(key, await inner.get(key)),
    take: async (key) => opened(key, await inner.take(key)),
    set: (key, value, ttlMs) => inner.set(key, ring.seal(prefix + key, value), ttlMs),
    async add(key, value, ttlMs) {
      const sealed = ring.seal(prefix + key, value);
      if (await inner.add(key, sealed, ttlMs)) return true;
      const present = await inner.get(key);
      if (present === undefined || opened(key, present) !== undefined) return false;
      return inner.replace(key, present, sealed, ttlMs);
    },
    replace: (key, before, value, ttlMs) => inner.replace(key, before, ring.seal(prefix + key, value), ttlMs),
  };
}
