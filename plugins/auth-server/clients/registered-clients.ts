import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { JsonObject } from '@toolmgr/core';
import type { AuthStorage, StoredRecord } from '../storage/storage.ts';
import type { ClientMetadata } from './client-metadata.ts';

const LIFE_MS = 30 * 24 * 3_600_000; // since the last token
const EVICTABLE_AFTER_MS = 3_600_000;
const PARTS = 50; // of the index of clients, so that one registration reads few entries
const MAX_PER_PART = 200; // 10 000 clients in total
const MAX_EVICTED = 20; // at one time

/** A client as it is answered to its registration; the secret is shown only here. */
export interface RegisteredClient {
  readonly id: string;
  readonly secret?: string;
  /** Epoch milliseconds. */
  readonly createdMs: number;
}

/** Clients that registered themselves. They end 30 days after their last token. */
export interface RegisteredClients {
  /** Returns `undefined` when it is full: all clients got a token, or are younger than an hour. */
  add(metadata: ClientMetadata): Promise<RegisteredClient | undefined>;
  /** Metadata, and the SHA-256 of the secret in hexadecimal as `client_secret`; `undefined` for an unknown client. */
  find(id: string): Promise<JsonObject | undefined>;
  /** A client got a token: it lives for another 30 days and is not evicted any more. */
  used(id: string): Promise<void>;
}

/**
 * Creates the clients of a storage.
 *
 * Records: `client:ID` with `{ metadata, secretHash?, createdMs, usedMs? }`. The sets `clients:N` index them by the first byte
 * of the id, because a storage cannot list its keys. Entries of ended clients are removed when their set is full.
 */
export function createRegisteredClients(storage: AuthStorage, now: () => number): RegisteredClients {
  /** Until when a full part is known to have nothing to evict, so that a flood does not read it again and again. */
  const fullUntilMs = new Map<number, number>();

  /** Removes what ended, then the oldest clients without a token. Returns whether there is space. */
  async function makeSpace(part: number, ids: readonly string[]): Promise<boolean> {
    if (now() < (fullUntilMs.get(part) ?? 0)) return false;
    const found = await Promise.all(ids.map(async (id) => ({ id, record: await storage.get(keyOf(id)) })));
    const ended = found.filter(({ record }) => record === undefined);
    const idle = found
      .filter(({ record }) => record !== undefined && record.value.usedMs === undefined)
      .map(({ id, record }) => ({ id, createdMs: Number(record?.value.createdMs) }))
      .sort((a, b) => a.createdMs - b.createdMs);
    const old = idle.filter(({ createdMs }) => now() - createdMs >= EVICTABLE_AFTER_MS).slice(0, MAX_EVICTED);
    await Promise.all(old.map(({ id }) => storage.delete(keyOf(id))));
    await Promise.all([...ended, ...old].map(({ id }) => storage.removeMember(setOf(part), id)));
    if (ended.length + old.length > 0) return true;
    const next = idle[0]?.createdMs ?? now();
    fullUntilMs.set(part, Math.min(next + EVICTABLE_AFTER_MS, now() + FULL_MS));
    return false;
  }

  /** An id in the emptier one of two random parts, or one that has space after an eviction. */
  async function freeId(): Promise<string | undefined> {
    const tried = await Promise.all(
      [randomUUID(), randomUUID()].map(async (id) => ({ id, members: await storage.members(setOf(partOf(id))) })),
    );
    tried.sort((a, b) => a.members.length - b.members.length);
    for (const { id, members } of tried) {
      if (members.length < MAX_PER_PART || (await makeSpace(partOf(id), members))) return id;
    }
    return undefined;
  }

  return {
    async add(metadata) {
      const id = await freeId();
      if (id === undefined) return undefined;
      const secret = metadata.token_endpoint_auth_method === 'none' ? undefined : randomBytes(32).toString('base64url');
      const createdMs = now();
      const hashed = secret === undefined ? {} : { secretHash: secretHash(secret) };
      await storage.addMember(setOf(partOf(id)), id, undefined);
      await storage.set(keyOf(id), { metadata: { ...metadata }, ...hashed, createdMs }, LIFE_MS);
      return { id, ...(secret === undefined ? {} : { secret }), createdMs };
    },
    async find(id) {
      if (!UUID.test(id)) return undefined;
      const record = await storage.get(keyOf(id));
      return record === undefined ? undefined : publicRecord(id, record);
    },
    async used(id) {
      if (!UUID.test(id)) return;
      const record = await storage.get(keyOf(id));
      if (record === undefined) return;
      if (record.value.usedMs !== undefined) return storage.touch(keyOf(id), LIFE_MS);
      await storage.replace(keyOf(id), record, { ...record.value, usedMs: now() }, LIFE_MS);
    },
  };
}

const FULL_MS = 60_000;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** SHA-256 in hexadecimal. A secret has 256 random bits, so a slow hash adds nothing. */
export function secretHash(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

function publicRecord(id: string, { value }: StoredRecord): JsonObject {
  const secret = typeof value.secretHash === 'string' ? { client_secret: value.secretHash } : {};
  return { ...(value.metadata as JsonObject), client_id: id, ...secret };
}

function keyOf(id: string): string {
  return `client:${id}`;
}

function partOf(id: string): number {
  return Number.parseInt(id.slice(0, 4), 16) % PARTS;
}

function setOf(part: number): string {
  return `clients:${part}`;
}
