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

/**
 * Keeps one kind of record of the OAuth library, e.g. `Session`.
 *
 * Ids of codes, sessions and interactions are secrets: only their SHA-256 is stored. Fields ending in `jti` are left out then.
 */
export function createProviderAdapter(storage: AuthStorage, kind: string): ProviderAdapter {
  const name = kind.replace(/(?<!^)[A-Z]/g, (letter) => `-${letter}`).toLowerCase();
  const isPlain = PLAIN.has(kind);
  const keyOf = (id: string): string => `${name}:${isPlain ? id : sha256(id)}`;
  const uidKey = (uid: string): string => `${name}-uid:${uid}`;
  const grantKey = (grantId: string): string => `${name}-of-grant:${grantId}`;
  const read = (id: string, record: StoredRecord | undefined): JsonObject | undefined =>
    record === undefined ? undefined : { ...record.value, ...(isPlain ? {} : { jti: id }) };

  return {
    async upsert(id, payload, expiresInSeconds) {
      const ttlMs = expiresInSeconds === undefined ? undefined : expiresInSeconds * 1000;
      const { jti, ...rest } = jsonOf(payload);
      await storage.set(keyOf(id), isPlain && jti !== undefined ? { ...rest, jti } : rest, ttlMs);
      if (kind === 'Session' && typeof rest.uid === 'string')
        await storage.set(uidKey(rest.uid), { id: sha256(id) }, ttlMs);
      if (kind === 'AuthorizationCode' && typeof rest.grantId === 'string') {
        await storage.set(grantKey(rest.grantId), { id: sha256(id) }, ttlMs);
      }
    },
    async find(id) {
      return read(id, await storage.get(keyOf(id)));
    },
    async findByUid(uid) {
      const link = await storage.get(uidKey(uid));
      if (typeof link?.value.id !== 'string') return undefined;
      return (await storage.get(`${name}:${link.value.id}`))?.value;
    },
    findByUserCode: async () => undefined,
    async consume(id) {
      const record = await storage.get(keyOf(id));
      if (record === undefined || record.value.consumed !== undefined) throw new RecordConsumed();
      const consumed = { ...record.value, consumed: epochSeconds() };
      if (!(await storage.replace(keyOf(id), record, consumed, CONSUMED_MS))) throw new RecordConsumed();
    },
    destroy: (id) => storage.delete(keyOf(id)),
    async revokeByGrantId(grantId) {
      const link = await storage.take(grantKey(grantId));
      if (typeof link?.value.id === 'string') await storage.delete(`${name}:${link.value.id}`);
    },
  };
}

/** Kinds whose ids are no secrets. */
const PLAIN = new Set(['Client', 'Grant']);
/** How long a used code is remembered, to detect that it is used again. */
const CONSUMED_MS = 30 * 60_000;

function jsonOf(payload: object): JsonObject {
  const value: unknown = JSON.parse(JSON.stringify(payload));
  if (!isObject(value)) throw new Error('expected an object');
  return value;
}

function sha256(id: string): string {
  return createHash('sha256').update(id).digest('base64url');
}

function epochSeconds(): number {
  return Math.floor(Date.now() / 1000);
}
