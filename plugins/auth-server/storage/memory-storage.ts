import { randomUUID } from 'node:crypto';
import { GatewayFault, type JsonObject } from '@toolmgr/core';
import type { AuthStorage, StoredRecord } from './storage.ts';

const MAX_RECORDS = 100_000;
const SWEEP_MS = 5 * 60_000;

interface Kept<T> {
  readonly held: T;
  readonly untilMs: number;
}

/** Creates the storage of one process. Records are lost when it ends. `now` returns epoch milliseconds. */
export function createMemoryStorage(now: () => number): AuthStorage {
  const records = new Map<string, Kept<StoredRecord>>();
  const sets = new Map<string, Kept<Set<string>>>();
  const sweep = setInterval(() => {
    for (const kept of [records, sets]) for (const [key, { untilMs }] of kept) if (untilMs <= now()) kept.delete(key);
  }, SWEEP_MS).unref();

  const live = <T>(kept: Map<string, Kept<T>>, key: string): Kept<T> | undefined => {
    const found = kept.get(key);
    if (found === undefined || found.untilMs > now()) return found;
    kept.delete(key);
    return undefined;
  };
  const until = (ttlMs: number | undefined): number => (ttlMs === undefined ? Number.POSITIVE_INFINITY : now() + ttlMs);
  const write = (key: string, value: JsonObject, ttlMs: number | undefined): void => {
    if (records.size >= MAX_RECORDS && !records.has(key)) {
      throw new GatewayFault('STORE_FULL', `the authorization server keeps ${MAX_RECORDS} records already`);
    }
    const held = { value: structuredClone(value), version: randomUUID() };
    records.set(key, { held, untilMs: until(ttlMs) });
  };

  return {
    async get(key) {
      return live(records, key)?.held;
    },
    async set(key, value, ttlMs) {
      write(key, value, ttlMs);
    },
    async add(key, value, ttlMs) {
      if (live(records, key) !== undefined) return false;
      write(key, value, ttlMs);
      return true;
    },
    async replace(key, before, value, ttlMs) {
      if (live(records, key)?.held.version !== before.version) return false;
      write(key, value, ttlMs);
      return true;
    },
    async take(key) {
      const found = live(records, key);
      records.delete(key);
      return found?.held;
    },
    async delete(key) {
      records.delete(key);
    },
    async touch(key, ttlMs) {
      const found = live(records, key);
      if (found !== undefined) records.set(key, { ...found, untilMs: until(ttlMs) });
    },
    async addMember(key, member, ttlMs) {
      const found = live(sets, key);
      const members = found?.held ?? new Set();
      sets.set(key, { held: members.add(member), untilMs: Math.max(found?.untilMs ?? 0, until(ttlMs)) });
    },
    async removeMember(key, member) {
      live(sets, key)?.held.delete(member);
    },
    async members(key) {
      return [...(live(sets, key)?.held ?? [])];
    },
    async close() {
      clearInterval(sweep);
      records.clear();
      sets.clear();
    },
  };
}
