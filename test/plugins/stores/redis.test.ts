import type { Store } from '@toolmgr/core';
import { redisAddress } from '@toolmgr/plugins/kit/redis';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { redisConfig } from '../../../plugins/stores/redis/config.ts';
import { connectStore } from '../../../plugins/stores/redis/connect-store.ts';
import redisPlugin from '../../../plugins/stores/redis/index.ts';
import { keysOf } from '../../../plugins/stores/redis/key-names.ts';
import { createRedisStore, storeScripts } from '../../../plugins/stores/redis/redis-store.ts';
import { type StoreUnderTest, storeContract } from '../../contract/store.contract.ts';
import { certificates } from '../../support/certificates.ts';
import { bootPlugin, type PluginCore, pluginCore } from '../../support/plugin-core.ts';
import { proves } from '../../support/proves.ts';
import { type RedisServer, redisMissing, startRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';

if (redisMissing !== undefined) console.warn(`skipped: the tests of stores/redis (${redisMissing})`);

describe.skipIf(redisMissing)('stores/redis', () => {
  let server: RedisServer;
  let admin: Redis;
  let gateways = 0;
  const open: PluginCore[] = [];

  beforeAll(async () => {
    server = await startRedis();
    admin = new Redis({ port: server.port });
  });
  afterAll(async () => {
    admin.disconnect();
    await server[Symbol.asyncDispose]();
  });
  afterEach(async () => {
    for (const core of open.splice(0)) await core.hooks.stopping.promise();
  });

  /** The plugin of one gateway, with its store and log. */
  async function boot(config: Record<string, unknown> = {}) {
    const core = await bootPlugin(redisPlugin, { address: server.address, ...config });
    open.push(core);
    return { store: core.slots.stores.get('redis'), core };
  }

  const one = { key: 'one', capacity: 1, refillPeriodMs: 60_000 };

  describe('fulfils the contract of a store:', () => {
    storeContract(() => storeWithClock());
  });

  /** The real server and script, with a clock that the test sets in a key. */
  async function storeWithClock(): Promise<StoreUnderTest> {
    const name = `contract-${++gateways}`;
    const clockKey = `clock:${name}`;
    let nowMs = 1_800_000_000_000;
    const turn = () => admin.hset(clockKey, { s: Math.floor(nowMs / 1000), us: (nowMs % 1000) * 1000 });
    await turn();
    const config = redisConfig.parse({ address: server.address });
    const scripts = storeScripts(`redis.call('HMGET', '${clockKey}', 's', 'us')`);
    const connection = connectStore(pluginCore(), config, scripts);
    await connection.open();
    return {
      store: createRedisStore(connection, keysOf(name, undefined)),
      async advance(ms) {
        nowMs += ms;
        await turn();
        for (const key of await admin.keys(`*{${name}}:*`)) await admin.pexpire(key, (await admin.pttl(key)) - ms);
      },
      nowMs: () => nowMs,
    };
  }

  proves(
    ['vmcp.config.session-storage-key-prefix', 'vmcp.config.session-storage-db'],
    'uses the configured database, 0 by default, and keys with the prefix and the name of the gateway',
    async () => {
      const { store } = await boot({ keyPrefix: 'acme', db: 3 });
      const plain = await boot();
      await store.set('id', 'value', 60_000);
      await store.take([one], 0);
      await plain.store.set('id', 'value', 60_000);
      await plain.store.take([one], 0);
      await admin.select(3);
      expect((await admin.keys('*')).sort()).toEqual(['acme:rl:{test-gateway}:one', 'acme:{test-gateway}:id']);
      await admin.select(0);
      expect(await admin.keys('toolmgr:*{test-gateway}*')).toHaveLength(2);
      expect(await admin.exists('toolmgr:vmcp:session:{test-gateway}:id', 'toolmgr:rl:{test-gateway}:one')).toBe(2);
    },
  );

  proves('choice.store.redis-keys', 'separates gateway names with braces', () => {
    const names = ['a', 'a}', '{a}', 'a}:b', 'a%7d', 'a%7D'];
    expect(new Set(names.map((name) => keysOf(name, undefined).bucket('x'))).size).toBe(names.length);
    expect(keysOf('a}', undefined).bucket('x')).toBe('toolmgr:rl:{a%7D}:x');
  });

  proves('vmcp.rate-limiting.per-user-keys-expire', 'expires a bucket after twice its refill period', async () => {
    const { store } = await boot();
    await store.take([{ key: 'short', capacity: 5, refillPeriodMs: 40_000 }], 0);
    const ttlMs = await admin.pttl('toolmgr:rl:{test-gateway}:short');
    expect(ttlMs).toBeLessThanOrEqual(80_000);
    expect(ttlMs).toBeGreaterThan(75_000); // minus the time since the call
  });

  proves('choice.store.redis-clock', 'uses the clock of the server', async () => {
    const { store } = await boot();
    const bucket = { key: 'skew', capacity: 1, refillPeriodMs: 600_000 };
    expect(await store.take([bucket], 0)).toBe(0);
    expect(await store.take([bucket], Number.MAX_SAFE_INTEGER)).toBeGreaterThan(500_000);
    const fast = { key: 'fast', capacity: 1, refillPeriodMs: 20 };
    expect(await store.take([fast], 0)).toBe(0);
    await until(async () => (await store.take([fast], 0)) === 0);
  });

  proves(
    ['vmcp.config.session-storage-db', 'choice.store.redis-wrong-settings'],
    'does not start with a missing database',
    async () => {
      await expect(boot({ db: 4096 })).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
        message: expect.stringContaining('db'),
      });
    },
  );

  it('survives a flush of the scripts', async () => {
    const { store } = await boot();
    expect(await store.take([one, { ...one, key: 'flush' }], 0)).toBeGreaterThan(0);
    await admin.script('FLUSH');
    expect(await store.take([{ ...one, key: 'flush' }], 0)).toBe(0);
  });

  describe('with a password', () => {
    const secret = 'correct-horse-battery';
    const name = 'TOOLMGR_SESSION_REDIS_PASSWORD';
    afterEach(() => {
      delete process.env[name];
    });

    proves(
      ['vmcp.config.session-storage-password', 'choice.store.redis-wrong-settings'],
      'reads it from the environment and never reveals it',
      async () => {
        await using guarded = await startRedis({ password: secret });
        process.env[name] = secret;
        const { store, core } = await boot({ address: guarded.address });
        await store.set('key', 'value', 60_000);
        expect(await store.get('key')).toBe('value');
        await guarded.restart();
        await until(async () => (await store.get('key').catch(() => 'away')) === undefined);
        for (const wrong of ['wrong-horse', '']) {
          process.env[name] = wrong;
          const fault = await boot({ address: guarded.address }).catch((cause: unknown) => cause);
          expect(fault).toMatchObject({ code: 'STORE_UNAVAILABLE', message: expect.stringContaining(name) });
          expect(deepText(fault)).not.toContain('horse');
        }
        expect(JSON.stringify(core.lines)).not.toContain('horse');
      },
    );
  });

  it('verifies the certificate of a server with TLS', async () => {
    await using strange = await startRedis({ tls: certificates() });
    const { store, core } = await boot({ address: strange.address, tls: true });
    await expect(store.get('key')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(JSON.stringify(core.lines)).toMatch(/the redis store is unavailable.*certificate/);
  });

  describe('when the server is unavailable', () => {
    proves(
      'choice.store.redis-away',
      'lets the gateway start, fails at once, logs once, and recovers by itself',
      async () => {
        await using lost = await startRedis();
        await lost.kill();
        const { store, core } = await boot({ address: lost.address });
        for (let n = 0; n < 20; n++)
          await expect(store.take([one], 0)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
        await lost.restart();
        await until(async () => (await granted(store)) === true);
        await lost.kill();
        await until(async () => (await granted(store)) === undefined);
        await lost.restart();
        await until(async () => (await granted(store)) === true);
        expect(core.lines.map(({ level, message }) => `${level} ${message}`)).toEqual([
          'warn the redis store is unavailable',
          'info the redis store is available again',
          'warn the redis store is unavailable',
          'info the redis store is available again',
        ]);
      },
    );

    proves(
      'choice.store.redis-hangs',
      'waits at most commandTimeoutMs for a hung server, and not at all after that',
      async () => {
        await using hung = await startRedis();
        const { store } = await boot({ address: hung.address, commandTimeoutMs: 200 });
        expect(await granted(store)).toBe(true);
        hung.pause();
        const asked = Array.from({ length: 50 }, () => granted(store));
        expect(await Promise.all(asked)).toEqual(asked.map(() => undefined));
        const times: number[] = [];
        for (let n = 0; n < 5; n++) {
          const startedMs = performance.now();
          expect(await granted(store)).toBeUndefined();
          times.push(performance.now() - startedMs);
        }
        expect(Math.min(...times)).toBeLessThan(100); // the fastest: the machine of the test has other work
        hung.resume();
        await until(async () => (await granted(store)) !== undefined);
      },
    );

    proves('choice.store.redis-once', 'does not repeat a take whose response was lost', async () => {
      await using hung = await startRedis();
      const { store } = await boot({ address: hung.address, commandTimeoutMs: 200 });
      const bucket = { key: 'lost', capacity: 10, refillPeriodMs: 3_600_000 };
      await store.take([bucket], 0);
      hung.pause();
      await expect(store.take([bucket], 0)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
      hung.resume();
      let left = 0;
      await until(async () => (await store.take([bucket], 0).catch(() => -1)) === 0);
      for (left = 1; (await store.take([bucket], 0)) === 0; ) left += 1;
      expect([8, 9]).toContain(left); // the lost command took one token or none
    });

    it('bounds pending commands of a hung server', async () => {
      await using hung = await startRedis();
      const { store } = await boot({ address: hung.address, commandTimeoutMs: 2_000 });
      hung.pause();
      const asked = Array.from({ length: 10_001 }, () => store.get('x').catch((cause: Error) => cause.message));
      expect(await asked.at(-1)).toMatch(/10000 pending commands/);
      hung.resume();
      await Promise.all(asked);
    });
  });

  it.each([
    ['host', { host: 'host', port: 6379 }],
    ['redis.internal:6380', { host: 'redis.internal', port: 6380 }],
    ['[::1]:1', { host: '::1', port: 1 }],
  ])('reads the address %s', (address, read) => {
    expect(redisAddress(address)).toEqual(read);
  });

  it.each(['redis://u:p4ss@host:1', 'host:0', 'host:99999', 'a b:1', ':6379', 'user:p4ss@host:6379', '[::1'])(
    'refuses the address %s without repeating it',
    (address) => {
      const read = redisConfig.safeParse({ address });
      expect(read.success).toBe(false);
      expect(read.error?.message).toMatch(/host:port/);
      expect(read.error?.message).not.toContain('p4ss');
    },
  );
});

/** Whether a token was granted; `undefined` when the store is unavailable. */
async function granted(store: Store): Promise<boolean | undefined> {
  const bucket = { key: 'probe', capacity: 1_000_000, refillPeriodMs: 60_000 };
  return store.take([bucket], 0).then(
    (waitMs) => waitMs === 0,
    () => undefined,
  );
}

/** All texts of an error, including its causes. */
function deepText(thrown: unknown, depth = 0): string {
  if (!(thrown instanceof Error) || depth > 5) return JSON.stringify(thrown) ?? '';
  const own = Object.getOwnPropertyNames(thrown).map((key) => Reflect.get(thrown, key) as unknown);
  return own.map((value) => (value instanceof Error ? deepText(value, depth + 1) : JSON.stringify(value))).join('\n');
}
