import { createHash } from 'node:crypto';
import { isObject, type JsonObject } from '@toolmgr/core';
import type { AuthStorage, StoredRecord } from './storage.ts';

/** What the OAuth library wants of a storage for one kind of record; the same shape as its `Adapter`. */
export interface ProviderAdapter {
  upsert(id: string, payload: object, expiresInSeconds?: number): Promise<void>;
  find(id: string): Promise<JsonObject | undefined>;
  findByUid(uid: string): Promise<JsonObject | undefined>;
  findByUserCode(userCode: string): Promise<undefined>;
  /** Marks a record as used. @throws RecordConsumed when it was used before; of several callers one succeeds */
  consume(id: string): Promise<void>;
  destroy(id: string): Promise<void>;
  revokeByGrantId(grantId: string): Promise<void>;
}

/** A record can be used once, and was. */
export class RecordConsumed extends Error {
  constructor() {
    super('the record was used before');
  }
}

/** How one kind of record is kept. */
interface Kind {
  /** Start of the key. Source: facts, operator and auth, §7.9 where it has the record. */
  readonly name: string;
  /** The id opens something: only its hash is stored. */
  readonly hasSecretId: boolean;
  /** Field by which a second record leads to this one. */
  readonly index?: 'uid' | 'grantId';
}

const KINDS: Readonly<Record<string, Kind>> = {
  AuthorizationCode: { name: 'authcode', hasSecretId: true, index: 'grantId' },
  Grant: { name: 'grant', hasSecretId: false },
  Interaction: { name: 'interaction', hasSecretId: true },
  Session: { name: 'browser-session', hasSecretId: true, index: 'uid' },
};

/** How long a used code is remembered, so that a second use is detected. Source: as above, `invalidated:<sig>`. */
const CONSUMED_MS = 30 * 60_000;
/** The library gives a time for every kind of {@link KINDS}. */
const LONGEST_MS = 30 * 24 * 3_600_000;
/** Stands for the record's id in a stored text. */
const ID = '{id}';

/**
 * Keeps one kind of record of the OAuth library, e.g. `Session`.
 *
 * The ids of codes, sign-ins in progress and sessions of browsers open something: keys have their SHA-256, and values do not have
 * them. Kinds that this server does not use are refused when they are written.
 */
export function createProviderAdapter(storage: AuthStorage, kind: string): ProviderAdapter {
  const found = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
  if (found === undefined) return unusedKind(kind);
  const { name, hasSecretId, index } = found;
  const refOf = (id: string): string => (hasSecretId ? sha256(id) : id);
  const keyOf = (id: string): string => `${name}:${refOf(id)}`;
  const indexKey = (value: string): string => `${name}-${index === 'uid' ? 'uid' : 'of-grant'}:${value}`;
  const indexOf = (value: JsonObject): string | undefined => {
    const by = index === undefined ? undefined : value[index];
    return typeof by === 'string' ? by : undefined;
  };
  const read = (id: string, record: StoredRecord | undefined): JsonObject | undefined =>
    record === undefined ? undefined : withId(record.value, id);
  /** The key of the record that an index leads to. */
  const target = (link: StoredRecord | undefined): string | undefined =>
    typeof link?.value.ref === 'string' ? `${name}:${link.value.ref}` : undefined;

  return {
    async upsert(id, payload, expiresInSeconds) {
      const ttlMs = expiresInSeconds === undefined ? LONGEST_MS : expiresInSeconds * 1000;
      const value = hasSecretId ? withoutId(jsonOf(payload), id) : jsonOf(payload);
      const by = indexOf(value);
      // the index first: a record without it could not be revoked
      if (by !== undefined) await storage.set(indexKey(by), { ref: refOf(id) }, ttlMs);
      await storage.set(keyOf(id), value, ttlMs);
    },
    async find(id) {
      return read(id, await storage.get(keyOf(id)));
    },
    async findByUid(uid) {
      const key = index === 'uid' ? target(await storage.get(indexKey(uid))) : undefined;
      return key === undefined ? undefined : (await storage.get(key))?.value;
    },
    findByUserCode: async () => undefined,
    async consume(id) {
      const record = await storage.get(keyOf(id));
      if (record === undefined || record.value.consumed !== undefined) throw new RecordConsumed();
      const consumed = { ...record.value, consumed: Math.floor(Date.now() / 1000) };
      if (!(await storage.replace(keyOf(id), record, consumed, CONSUMED_MS))) throw new RecordConsumed();
    },
    destroy: (id) => storage.delete(keyOf(id)),
    async revokeByGrantId(grantId) {
      if (index !== 'grantId') return;
      const key = target(await storage.take(indexKey(grantId)));
      if (key !== undefined) await storage.delete(key);
    },
  };
}

/** The library makes an adapter for all its models. Reading finds nothing. */
function unusedKind(kind: string): ProviderAdapter {
  const refuse = async (): Promise<never> => {
    throw new Error(`the authorization server keeps no ${kind}`);
  };
  const nothing = async () => undefined;
  return {
    upsert: refuse,
    consume: refuse,
    find: nothing,
    findByUid: nothing,
    findByUserCode: nothing,
    destroy: nothing,
    revokeByGrantId: nothing,
  };
}

/** Leaves out the id, also at the end of the path by which a sign-in continues, and the id of the browser's session. */
function withoutId({ jti: _, returnTo, session, ...rest }: JsonObject, id: string): JsonObject {
  const kept = isObject(session) ? { session: { ...session, cookie: undefined } } : {};
  const path = typeof returnTo === 'string' ? { returnTo: returnTo.replaceAll(id, ID) } : {};
  return { ...rest, ...kept, ...path } as JsonObject;
}

function withId({ returnTo, ...rest }: JsonObject, id: string): JsonObject {
  return { jti: id, ...rest, ...(typeof returnTo === 'string' ? { returnTo: returnTo.replaceAll(ID, id) } : {}) };
}

function jsonOf(payload: object): JsonObject {
  const value: unknown = JSON.parse(JSON.stringify(payload));
  if (!isObject(value)) throw new Error('expected an object');
  return value;
}

function sha256(id: string): string {
  return createHash('sha256').update(id).digest('base64url');
}
