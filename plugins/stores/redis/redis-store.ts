import type { Bucket, Store } from '@toolmgr/core';
import type { Connection, RedisClient, Scripts } from '@toolmgr/plugins/kit/redis';
import type { Keys } from './key-names.ts';
import { takeScript } from './take-script.ts';

/** The scripts of this store; tests pass their own `clock`. */
export const storeScripts = (clock?: string): Scripts => ({ take: { lua: takeScript(clock) } });

/** The client with the commands of {@link storeScripts}. */
interface Scripted {
  take(keyCount: number, ...keysAndArguments: (string | number)[]): Promise<number>;
}

/** The store on one server. Every method rejects with STORE_UNAVAILABLE when the server does not answer. */
export function createRedisStore(connection: Connection, keys: Keys): Store {
  return {
    async get(key, ttlMs) {
      const name = keys.value(key);
      const read = (redis: RedisClient) => (ttlMs === undefined ? redis.get(name) : redis.getex(name, 'PX', ttlMs));
      return (await connection.run(read)) ?? undefined;
    },
    async set(key, value, ttlMs) {
      await connection.run((redis) => redis.set(keys.value(key), value, 'PX', ttlMs));
    },
    async delete(key) {
      await connection.run((redis) => redis.del(keys.value(key)));
    },
    take: (buckets) => connection.run((redis) => take(redis, buckets, keys)),
    async close() {
      connection.close();
    },
  };
}

/** Uses the clock of the server, not of this process. */
async function take(redis: RedisClient, buckets: readonly Bucket[], keys: Keys): Promise<number> {
  if (buckets.length === 0) return 0;
  const names = buckets.map(({ key }) => keys.bucket(key));
  const sizes = buckets.flatMap(({ capacity, refillPeriodMs }) => [capacity, refillPeriodMs]);
  return (redis as RedisClient & Scripted).take(names.length, ...names, ...sizes);
}
