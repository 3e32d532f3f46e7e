import type { AuthStorage, StoredRecord } from '../storage/storage.ts';
import type { TokenRow } from './accounts.ts';
import { KEYS } from './storage-keys.ts';
import { recordFromRow, rowFromRecord } from './token-row-record.ts';

const DAY_MS = 86_400_000;
/** Life of a row after its last use in a sign-in or a refresh. It does not depend on the access token, which ends earlier. */
const ROW_TTL_MS = 90 * DAY_MS;
/** Life of a row that was connected a moment ago, when no session of the person is left: the next one may be starting. */
const STARTING_MS = 30 * 60_000;

/** A row as it was read. */
export interface StoredRow {
  readonly row: TokenRow;
  readonly record: StoredRecord;
}

/** Rows of upstream tokens by person and provider. */
export interface TokenRows {
  read(person: string, provider: string): Promise<StoredRow | undefined>;
  /** Writes a row if the stored one is still `before`, `undefined` for none. Returns whether it was written. */
  write(person: string, provider: string, before: StoredRow | undefined, row: TokenRow): Promise<boolean>;
  take(person: string, provider: string): Promise<TokenRow | undefined>;
  delete(person: string, provider: string): Promise<void>;
  /** A session of the person began or continues: all rows live on. */
  keepAll(person: string): Promise<void>;
  /** No session of the person is left. Returns the providers. */
  releaseAll(person: string, nowMs: number): Promise<readonly string[]>;
}

/** Creates the rows on a storage. */
export function createTokenRows(storage: AuthStorage): TokenRows {
  const read = async (person: string, provider: string): Promise<StoredRow | undefined> => {
    return rowOf(await storage.get(KEYS.tokens(person, provider)));
  };
  const remove = async (person: string, provider: string): Promise<void> => {
    await storage.delete(KEYS.tokens(person, provider));
    await storage.removeMember(KEYS.providersOf(person), provider);
  };
  return {
    read,
    async write(person, provider, before, row) {
      const key = KEYS.tokens(person, provider);
      const record = recordFromRow(row);
      if (before !== undefined) return storage.replace(key, before.record, record, ROW_TTL_MS);
      await storage.addMember(KEYS.providersOf(person), provider, ROW_TTL_MS);
      if (await storage.add(key, record, ROW_TTL_MS)) return true;
      const present = await storage.get(key);
      // a record that is no row is replaced
      if (present === undefined || rowOf(present) !== undefined) return false;
      return storage.replace(key, present, record, ROW_TTL_MS);
    },
    async take(person, provider) {
      const taken = rowOf(await storage.take(KEYS.tokens(person, provider)));
      await storage.removeMember(KEYS.providersOf(person), provider);
      return taken?.row;
    },
    delete: remove,
    async keepAll(person) {
      for (const provider of await storage.members(KEYS.providersOf(person))) {
        await storage.touch(KEYS.tokens(person, provider), ROW_TTL_MS);
        await storage.addMember(KEYS.providersOf(person), provider, ROW_TTL_MS);
      }
    },
    async releaseAll(person, nowMs) {
      const providers = await storage.members(KEYS.providersOf(person));
      for (const provider of providers) {
        const stored = await read(person, provider);
        const isNew = stored !== undefined && nowMs - stored.row.connectedMs < STARTING_MS;
        if (isNew) await storage.touch(KEYS.tokens(person, provider), STARTING_MS);
        else await remove(person, provider);
      }
      return providers;
    },
  };
}

function rowOf(record: StoredRecord | undefined): StoredRow | undefined {
  const row = record && rowFromRecord(record.value);
  return record && row && { row, record };
}
