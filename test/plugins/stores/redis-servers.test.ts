import { Redis } from 'ioredis';
import { afterEach, describe, expect, it } from 'vitest';
import { redisConfig } from '../../../plugins/stores/redis/config.ts';
import redisPlugin from '../../../plugins/stores/redis/index.ts';
import { certificates } from '../../support/certificates.ts';
import { bootPlugin, type PluginCore } from '../../support/plugin-core.ts';
import { proves } from '../../support/proves.ts';
import { type RedisServer, redisMissing, startRedis } from '../../support/redis.ts';
import { startRedisCluster } from '../../support/redis-cluster.ts';
import { sentinelMissing, startSentinelGroup } from '../../support/redis-sentinel.ts';
import { until } from '../../support/until.ts';

if (redisMissing !== undefined) console.warn(`skipped: stores/redis on Sentinel and Cluster (${redisMissing})`);
else if (sentinelMissing !== undefined) console.warn(`skipped: stores/redis on Sentinel (${sentinelMissing})`);

const PASSWORD = 'canary-password-of-store';
const LOGIN = { passwordSecretRef: { env: 'STORE_LOGIN' } };
/** Those that the README of the plugin names. */
const RIGHTS = '+get +getex +set +del +time +hmget +hset +pexpire +evalsha +eval +info +select +client|setname';
const HOUR = 3_600_000;
const BUCKETS = ['shared', 'user:a', 'tool:b'].map((key) => ({ key, capacity: 2, refillPeriodMs: HOUR }));

describe.skipIf(redisMissing)('stores/redis on several servers', () => {
  const open: PluginCore[] = [];
  const names: string[] = [];
  afterEach(async () => {
    for (const core of open.splice(0)) await core.hooks.stopping.promise();
    for (const name of names.splice(0)) delete process.env[name];
  });

  function setVariables(values: Readonly<Record<string, string>>): void {
    names.push(...Object.keys(values));
    Object.assign(process.env, values);
  }

  /** The store of one gateway, with its log. */
  async function boot(config: Record<string, unknown>) {
    const core = await bootPlugin(redisPlugin, config);
    open.push(core);
    return { store: core.slots.stores.get('redis'), core };
  }

  proves(
    ['choice.store.redis-cluster', 'choice.store.redis-acl-user'],
    'keeps values and buckets of all replicas on a Cluster, and takes from several buckets in one step',
    async () => {
      await using cluster = await startRedisCluster(PASSWORD);
      setVariables({ STORE_LOGIN: PASSWORD });
      const [first, second] = cluster.nodes as [RedisServer, RedisServer];
      const one = await boot({ address: first.address, clusterMode: true, aclUserConfig: LOGIN });
      const other = await boot({ address: second.address, clusterMode: true, aclUserConfig: LOGIN });
      await one.store.set('id', 'value', HOUR);
      expect(await other.store.get('id', HOUR)).toBe('value');
      expect(await one.store.take(BUCKETS, 0)).toBe(0);
      expect(await other.store.take(BUCKETS, 0)).toBe(0);
      expect(await one.store.take(BUCKETS, 0)).toBeGreaterThan(0);
      await Promise.all(Array.from({ length: 30 }, (_, n) => one.store.set(`many:${n}`, `${n}`, HOUR)));
      const sizes = await Promise.all(cluster.nodes.map(({ port }) => sizeOf(port)));
      expect(sizes.filter((size) => size > 0)).toEqual([34]);

      const owner = cluster.nodes[sizes.findIndex((size) => size > 0)] as RedisServer;
      await owner.kill();
      await expect(one.store.get('id')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
      const startedMs = performance.now();
      await expect(one.store.take(BUCKETS, 0)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
      expect(performance.now() - startedMs).toBeLessThan(1_000);
      await owner.restart();
      await until(async () => (await one.store.set('id', 'new', HOUR).catch(() => 'away')) === undefined, 30_000);
      expect(one.core.lines.map(({ message }) => message).filter((text) => text.includes('Cluster'))).toEqual([
        'the Redis Cluster does not serve the keys of the redis store',
        'the Redis Cluster serves the keys of the redis store again',
      ]);
      expect(JSON.stringify(one.core.lines)).not.toContain('canary');

      setVariables({ STORE_LOGIN: 'wrong-canary' });
      await expect(boot({ address: second.address, clusterMode: true, aclUserConfig: LOGIN })).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
        message: expect.stringContaining('sessionStorage.aclUserConfig'),
      });
    },
  );

  proves(['choice.store.redis-once', 'choice.store.redis-cluster'], 'sends no command twice to a Cluster', async () => {
    await using cluster = await startRedisCluster(PASSWORD);
    setVariables({ TOOLMGR_SESSION_REDIS_PASSWORD: PASSWORD });
    const [first] = cluster.nodes as [RedisServer];
    const { store } = await boot({ address: first.address, clusterMode: true });
    const bucket = { key: 'lost', capacity: 10, refillPeriodMs: HOUR };
    await store.take([bucket], 0);
    const sizes = await Promise.all(cluster.nodes.map(({ port }) => sizeOf(port)));
    const admin = new Redis({ port: cluster.nodes[sizes.indexOf(1)]?.port ?? 0, password: PASSWORD });
    await admin.call('CLIENT', 'PAUSE', '60000', 'WRITE');
    const lost = store.take([bucket], 0).catch((cause: unknown) => cause);
    await until(async () => (await admin.info('clients')).includes('blocked_clients:1'));
    await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await admin.call('CLIENT', 'UNPAUSE');
    expect(await lost).toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await until(async () => (await store.take([bucket], 0).catch(() => -1)) === 0);
    let taken = 2;
    while ((await store.take([bucket], 0)) === 0) taken += 1;
    expect(taken).toBe(10);
    admin.disconnect();
  });

  proves('choice.store.redis-acl-user', 'logs in as the user of the ACL, with TLS and the CA of a secret', async () => {
    const made = certificates();
    await using secure = await startRedis({
      tls: made,
      lines: [`user gateway on >${PASSWORD} ~mine:* ${RIGHTS}`, 'user default off'],
    });
    setVariables({ STORE_USER: 'gateway', STORE_LOGIN: PASSWORD, STORE_CA: made.ca });
    const aclUserConfig = { ...LOGIN, usernameSecretRef: { env: 'STORE_USER' } };
    const tls = { caCertSecretRef: { env: 'STORE_CA' } };
    const { store } = await boot({ address: secure.address, aclUserConfig, tls, db: 2, keyPrefix: 'mine' });
    await store.set('id', 'value', HOUR);
    expect(await store.get('id', HOUR)).toBe('value');
    expect(await store.get('id')).toBe('value');
    expect(await store.take(BUCKETS, 0)).toBe(0);
    await store.delete('id');
    const { core } = await boot({ address: secure.address, aclUserConfig, tls: { insecureSkipVerify: true } });
    expect(core.lines).toContainEqual(
      expect.objectContaining({
        message: 'the certificate of Redis is not verified',
        fields: { setting: 'sessionStorage.tls.insecureSkipVerify' },
      }),
    );
  });

  describe.skipIf(sentinelMissing)('with Sentinel', () => {
    proves(
      'choice.store.redis-sentinel',
      'finds the master over TLS, uses the database, and continues on the new master after a failover',
      async () => {
        const made = certificates();
        await using group = await startSentinelGroup({ password: PASSWORD, tls: made });
        setVariables({ TOOLMGR_SESSION_REDIS_PASSWORD: PASSWORD, STORE_CA: made.ca });
        const tls = { caCertSecretRef: { env: 'STORE_CA' } };
        const sentinelConfig = { masterName: group.masterName, sentinelAddrs: group.sentinels };
        const { store, core } = await boot({ sentinelConfig, db: 3, tls, sentinelTls: tls });
        await store.set('id', 'value', HOUR);
        expect(await store.take(BUCKETS, 0)).toBe(0);
        const node = new Redis({ port: group.replica.port, password: PASSWORD, db: 3, tls: { ca: made.ca } });
        await until(async () => (await node.dbsize()) === 1 + BUCKETS.length);
        node.disconnect();
        await group.master.kill();
        await expect(store.get('id')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
        await until(async () => (await store.set('other', 'x', HOUR).catch(() => 'away')) === undefined, 30_000);
        // the sentinel that is asked may know the new master later than the one that chose it
        await until(async () => (await group.masterPort()) === group.replica.port, 30_000);
        expect(await store.get('id')).toBe('value');
        expect(await store.take(BUCKETS, 0)).toBe(0);
        expect(await store.take(BUCKETS, 0)).toBeGreaterThan(0);
        expect(JSON.stringify(core.lines)).not.toContain('canary');
      },
    );
  });
});

const SENTINEL = { masterName: 'main', sentinelAddrs: ['sentinel:26379'] };

it.each([
  [{}, 'address', 'missing; or set sentinelConfig'],
  [{ address: 'r:1', sentinelConfig: SENTINEL }, 'address', 'excludes sentinelConfig'],
  [{ sentinelConfig: SENTINEL, clusterMode: true }, 'clusterMode', 'requires address'],
  [{ address: 'r:1', sentinelTls: {} }, 'sentinelTls', 'requires sentinelConfig'],
  [{ address: 'r:1', clusterMode: true, db: 1 }, 'db', 'a Redis Cluster has only the database 0'],
  [{ sentinelConfig: { ...SENTINEL, db: 1 }, db: 2 }, 'db', 'differs from sentinelConfig.db; set one of them'],
  [
    { address: 'r:1', clusterMode: true, keyPrefix: 'a{}' },
    'keyPrefix',
    'a Redis Cluster needs all keys in one slot; omit {}',
  ],
])('refuses the combination %j', (config, key, message) => {
  expect(redisConfig.safeParse(config).error?.issues).toMatchObject([{ path: [key], message }]);
});

async function sizeOf(port: number): Promise<number> {
  const node = new Redis({ port, password: PASSWORD });
  const size = await node.dbsize();
  node.disconnect();
  return size;
}
