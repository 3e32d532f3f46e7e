import type { Bucket, Store } from '@toolmgr/core';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MemoryStore } from '../../../plugins/stores/memory/memory-store.ts';
import { redisConfig } from '../../../plugins/stores/redis/config.ts';
import { connectStore } from '../../../plugins/stores/redis/connect-store.ts';
import { keysOf } from '../../../plugins/stores/redis/key-names.ts';
import { createRedisStore, storeScripts } from '../../../plugins/stores/redis/redis-store.ts';
import fc from '../../support/fast-check.ts';
import { pluginCore } from '../../support/plugin-core.ts';
import { type RedisServer, redisMissing, startRedis } from '../../support/redis.ts';

const RUNS = 60;
const STEPS = 40;

/** Buckets of one run. Periods are long, because the server expires keys by its real time after twice the period. */
const sizes = fc.array(
  fc.record({ capacity: fc.integer({ min: 1, max: 7 }), refillPeriodMs: fc.integer({ min: 60_000, max: 300_000 }) }),
  {
    minLength: 1,
    maxLength: 4,
  },
);
const step = fc.record({
  advanceMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 60_000 })),
  picks: fc.array(fc.nat(3), { minLength: 1, maxLength: 5 }),
});

describe.skipIf(redisMissing)('the memory store and the Redis store', () => {
  let server: RedisServer;
  let admin: Redis;
  let store: Store;
  let run = 0;
  beforeAll(async () => {
    server = await startRedis();
    admin = new Redis({ port: server.port });
    const config = redisConfig.parse({ address: server.address });
    const scripts = storeScripts("redis.call('HMGET', 'clock', 's', 'us')");
    const connection = connectStore(pluginCore(), config, scripts);
    await connection.open();
    store = createRedisStore(connection, keysOf('same', undefined));
  });
  afterAll(async () => {
    await store.close();
    admin.disconnect();
    await server[Symbol.asyncDispose]();
  });

  it('have the same result for every take, with any buckets and times', async () => {
    await fc.assert(
      fc.asyncProperty(sizes, fc.array(step, { maxLength: STEPS }), async (made, steps) => {
        const prefix = `run-${++run}`;
        const buckets = made.map((size, index): Bucket => ({ key: `${prefix}:${index}`, ...size }));
        let nowMs = 1_800_000_000_000;
        const memory = new MemoryStore({ maxKeys: 100, now: () => nowMs });
        for (const { advanceMs, picks } of steps) {
          nowMs += advanceMs;
          await admin.hset('clock', { s: Math.floor(nowMs / 1000), us: (nowMs % 1000) * 1000 });
          const asked = picks.map((pick) => buckets[pick % buckets.length] as Bucket);
          expect(await store.take(asked, 0)).toBe(await memory.take(asked, nowMs));
        }
      }),
      { numRuns: RUNS },
    );
  });
});
