import { randomUUID } from 'node:crypto';
import { GatewayFault, type JsonObject } from '@toolmgr/core';
import { kindOf, limitOf } from './record-kinds.ts';
import { type AuthStorage, MAX_MEMBERS, type StoredRecord } from './storage.ts';

const MAX_SETS = 100_000;
const SWEEP_MS = 5 * 60_000;
/** Shortest time between two sweeps of a full storage, so that a flood does not pay for one with every request. */
const FULL_SWEEP_MS = 5_000;

/** A record. The text is parsed for each reader, as a record in Redis is: readers may change what they get. */
interface Kept {
  readonly text: string;
  readonly version: string;
  readonly writtenMs: number;
  readonly untilMs: number;
}

/** Records of one kind, in order of the last write. */
interface Kind {
  readonly records: Map<string, Kept>;
  chars: number;
}

interface KeptSet {
  readonly members: Set<string>;
  readonly untilMs: number;
}

/** Creates the storage of one process. Records are lost when it ends. `now` returns epoch milliseconds. */
export function createMemoryStorage(now: () => number): AuthStorage {
  // by kind, so that a flood of one kind displaces no other
  const kinds = new Map<string, Kind>();
  const sets = new Map<string, KeptSet>();
  const listeners = new Set<(text: string) => void>();
  let sweptMs = now();

  const sweep = (): void => {
    sweptMs = now();
    for (const [name, kind] of kinds) {
      for (const [key, { untilMs }] of kind.records) if (untilMs <= sweptMs) drop(kind, key);
      if (kind.records.size === 0) kinds.delete(name);
    }
    for (const [key, { untilMs }] of sets) if (untilMs <= sweptMs) sets.delete(key);
  };
  const timer = setInterval(sweep, SWEEP_MS).unref();

  const until = (ttlMs: number | undefined): number => (ttlMs === undefined ? Number.POSITIVE_INFINITY : now() + ttlMs);

  const find = (key: string): Kept | undefined => {
    const kind = kinds.get(kindOf(key));
    const found = kind?.records.get(key);
    if (kind === undefined || found === undefined || found.untilMs > now()) return found;
    drop(kind, key);
    return undefined;
  };

  const remove = (key: string): void => {
    const kind = kinds.get(kindOf(key));
    if (kind !== undefined) drop(kind, key);
  };

  /** Makes space for a record: removes what has ended, then the oldest records if their kind allows it. */
  const makeRoom = (name: string, kind: Kind, chars: number): void => {
    const { max, maxChars, evictAfterMs } = limitOf(name);
    const isFull = (): boolean => kind.records.size >= max || kind.chars + chars > maxChars;
    if (isFull() && now() - sweptMs >= FULL_SWEEP_MS) sweep();
    while (isFull()) {
      const [oldest] = kind.records;
      if (oldest === undefined || evictAfterMs === undefined || now() - oldest[1].writtenMs < evictAfterMs) {
        throw full(kind.records.size >= max ? `${max} records of ${name}` : `${maxChars} characters of ${name}`);
      }
      drop(kind, oldest[0]);
    }
  };

  const write = (key: string, value: JsonObject, ttlMs: number | undefined): void => {
    const name = kindOf(key);
    const kind = kinds.get(name) ?? { records: new Map<string, Kept>(), chars: 0 };
    const text = JSON.stringify(value);
    const before = kind.records.get(key);
    drop(kind, key);
    try {
      makeRoom(name, kind, text.length);
    } catch (cause) {
      if (before !== undefined) keep(kind, key, before);
      throw cause;
    }
    keep(kind, key, { text, version: randomUUID(), writtenMs: now(), untilMs: until(ttlMs) });
    kinds.set(name, kind);
  };

  return {
    async get(key) {
      return readable(find(key));
    },
    async set(key, value, ttlMs) {
      write(key, value, ttlMs);
    },
    async add(key, value, ttlMs) {
      if (find(key) !== undefined) return false;
      write(key, value, ttlMs);
      return true;
    },
    async replace(key, before, value, ttlMs) {
      if (find(key)?.version !== before.version) return false;
      write(key, value, ttlMs);
      return true;
    },
    async take(key) {
      const found = find(key);
      remove(key);
      return readable(found);
    },
    async delete(key) {
      remove(key);
    },
    async touch(key, ttlMs) {
      const found = find(key);
      if (found !== undefined) kinds.get(kindOf(key))?.records.set(key, { ...found, untilMs: until(ttlMs) });
    },
    async addMember(key, member, ttlMs) {
      const kept = sets.get(key);
      const found = kept !== undefined && kept.untilMs > now() ? kept : undefined;
      if (kept === undefined && sets.size >= MAX_SETS) {
        if (now() - sweptMs >= FULL_SWEEP_MS) sweep();
        if (sets.size >= MAX_SETS) throw full(`${MAX_SETS} sets`);
      }
      const members = found?.members ?? new Set<string>();
      if (members.size >= MAX_MEMBERS && !members.has(member)) throw fullSet();
      sets.set(key, { members: members.add(member), untilMs: Math.max(found?.untilMs ?? 0, until(ttlMs)) });
    },
    async removeMember(key, member) {
      const found = sets.get(key);
      found?.members.delete(member);
      if (found?.members.size === 0) sets.delete(key);
    },
    async members(key) {
      const found = sets.get(key);
      return found === undefined || found.untilMs <= now() ? [] : [...found.members];
    },
    async announce(text) {
      for (const listener of listeners) listener(text);
    },
    listen(heard) {
      listeners.add(heard);
      return () => listeners.delete(heard);
    },
    async close() {
      clearInterval(timer);
      listeners.clear();
      kinds.clear();
      sets.clear();
    },
  };
}

function keep(kind: Kind, key: string, kept: Kept): void {
  kind.records.set(key, kept);
  kind.chars += kept.text.length;
}

function drop(kind: Kind, key: string): void {
  kind.chars -= kind.records.get(key)?.text.length ?? 0;
  kind.records.delete(key);
}

function readable(found: Kept | undefined): StoredRecord | undefined {
  return found === undefined ? undefined : { value: JSON.parse(found.text), version: found.version };
}

function full(of: string): GatewayFault {
  return new GatewayFault('STORE_FULL', `the authorization server keeps ${of} already`);
}

/** Refusal of a set with too many members. */
export function fullSet(): GatewayFault {
  return full(`a set of ${MAX_MEMBERS} members`);
}
