import { randomBytes } from 'node:crypto';
import { GatewayFault, type JsonObject } from '@toolmgr/core';
import type { RedisSubscription } from '@toolmgr/plugins/kit/redis';
import { fullSet } from './memory-storage.ts';
import type { RecordClient } from './record-scripts.ts';
import { IS_RECORD, VERSION_CHARS } from './record-scripts.ts';
import type { RedisOperations } from './redis-operations.ts';
import { type AuthStorage, MAX_MEMBERS, type StoredRecord } from './storage.ts';

/** Longest time to live: Redis refuses times beyond its range. */
const MAX_TTL_MS = 100 * 365 * 86_400_000;

/**
 * The storage in Redis, under `prefix`. Each operation uses one key, and is safe to repeat when its answer was lost: a read; a
 * write of the same text; a script of {@link recordScripts}. A repeated `set` may overwrite what another replica wrote
 * meanwhile, as a slow `set` may. `subscription`: to {@link channelOf} this prefix.
 */
export function createRedisStorage(
  operations: RedisOperations,
  prefix: string,
  subscription: RedisSubscription,
): AuthStorage {
  const run = <T>(command: (redis: RecordClient) => Promise<T>): Promise<T> => operations.run(command);
  return {
    async get(key) {
      return recordOf(await run((redis) => redis.get(prefix + key)));
    },
    async set(key, value, ttlMs) {
      const text = textOf(value);
      await run((redis) =>
        ttlMs === undefined ? redis.set(prefix + key, text) : redis.set(prefix + key, text, 'PX', ttl(ttlMs)),
      );
    },
    async add(key, value, ttlMs) {
      const text = textOf(value);
      return (await run((redis) => redis.addRecord(prefix + key, text, ttl(ttlMs)))) === 1;
    },
    async replace(key, before, value, ttlMs) {
      const text = textOf(value);
      return (await run((redis) => redis.replaceRecord(prefix + key, text, ttl(ttlMs), before.version))) === 1;
    },
    async take(key) {
      const version = newVersion();
      return recordOf(await run((redis) => redis.takeRecord(prefix + key, version)), '!');
    },
    async delete(key) {
      await run((redis) => redis.del(prefix + key));
    },
    async touch(key, ttlMs) {
      await run((redis) => redis.touchRecord(prefix + key, ttl(ttlMs)));
    },
    async addMember(key, member, ttlMs) {
      const added = await run((redis) => redis.addMember(prefix + key, member, ttl(ttlMs), MAX_MEMBERS));
      if (added !== 1) throw fullSet();
    },
    async removeMember(key, member) {
      await run((redis) => redis.srem(prefix + key, member));
    },
    members: (key) => run((redis) => redis.smembers(prefix + key)),
    async announce(text) {
      await run((redis) => redis.publish(channelOf(prefix), text)).catch(() => 0); // the storage logs its outages
    },
    listen: subscription.listen,
    async close() {
      subscription.close();
      operations.close();
    },
  };
}

/** Every key has the gateway's name as a hash tag: replicas share keys, and all keys are in one slot of a Cluster. */
export function keyPrefixOf(gateway: string): string {
  return `toolmgr:auth:{${gateway.replace(/[%{}]/g, encodeURIComponent)}}:`;
}

/** Where replicas announce changes. */
export function channelOf(prefix: string): string {
  return `${prefix}changes`;
}

function newVersion(): string {
  return randomBytes(16).toString('base64url');
}

function textOf(value: JsonObject): string {
  return newVersion() + IS_RECORD + JSON.stringify(value);
}

/** Redis refuses a time below 1. */
function ttl(ms: number | undefined): string {
  return ms === undefined ? '' : String(Math.min(MAX_TTL_MS, Math.max(1, Math.ceil(ms))));
}

function recordOf(text: string | null, mark = IS_RECORD): StoredRecord | undefined {
  if (text === null || text[VERSION_CHARS] !== mark) return undefined;
  try {
    return { version: text.slice(0, VERSION_CHARS), value: JSON.parse(text.slice(VERSION_CHARS + 1)) as JsonObject };
  } catch {
    throw new GatewayFault('STORE_UNAVAILABLE', 'a record of the authorization server in Redis is damaged');
  }
}
