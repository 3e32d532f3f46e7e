import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { storageConfig } from '../../../../plugins/auth-server/storage/config.ts';
import { createAuthStorage } from '../../../../plugins/auth-server/storage/create-auth-storage.ts';
import { createMemoryStorage } from '../../../../plugins/auth-server/storage/memory-storage.ts';
import { redisTarget } from '../../../../plugins/auth-server/storage/redis-target.ts';
import type { AuthStorage } from '../../../../plugins/auth-server/storage/storage.ts';
import { authStorageContract } from '../../../contract/auth-storage.contract.ts';
import { certificates } from '../../../support/certificates.ts';
import { pluginCore } from '../../../support/plugin-core.ts';
import { proves } from '../../../support/proves.ts';
import { type RedisServer, redisMissing, startRedis } from '../../../support/redis.ts';
import { startRedisCluster } from '../../../support/redis-cluster.ts';
import { sentinelMissing, startSentinelGroup } from '../../../support/redis-sentinel.ts';
import { until } from '../../../support/until.ts';

if (redisMissing !== undefined) console.warn(`skipped: the authorization server in Redis (${redisMissing})`);
else if (sentinelMissing !== undefined) console.warn(`skipped: Redis Sentinel (${sentinelMissing})`);

const PASSWORD = 'canary-password-of-redis';
const MINUTE = 60_000;
/** Secrets of the tests by reference `{env}`. */
const ENVIRONMENT = { REDIS_PASSWORD: PASSWORD, WRONG: 'wrong-canary-password', REDIS_USER: 'gateway' };
const LOGIN = { passwordSecretRef: { env: 'REDIS_PASSWORD' } };

describe.skipIf(redisMissing)('the storage in Redis', () => {
  let server: RedisServer;
  let admin: Redis;
  const open: AuthStorage[] = [];
  beforeAll(async () => {
    server = await startRedis({ password: PASSWORD });
    admin = new Redis({ port: server.port, password: PASSWORD });
  });
  afterAll(async () => {
    admin.disconnect();
    await server[Symbol.asyncDispose]();
  });
  afterEach(async () => {
    for (const storage of open.splice(0)) await storage.close();
  });

  /** The storage of one gateway, and its log. */
  async function boot(redis: object, { env = {}, ...more }: { readonly env?: object } & Record<string, unknown> = {}) {
    const core = pluginCore({ ...ENVIRONMENT, ...env });
    const config = storageConfig.parse({ type: 'redis', redis: { aclUserConfig: LOGIN, ...redis }, ...more });
    const storage = await createAuthStorage(core, config);
    open.push(storage);
    return { storage, core };
  }

  describe('on one server', () => {
    let common: AuthStorage;
    beforeAll(async () => {
      ({ storage: common } = await boot({ addr: server.address }));
      open.length = 0;
    });
    afterAll(() => common.close());
    authStorageContract(() => common);
  });

  describe('with encryption', () => {
    let common: AuthStorage;
    beforeAll(async () => {
      const encryptionKeySecretRefs = [{ env: 'KEY' }];
      const env = { KEY: 'k'.repeat(32) };
      ({ storage: common } = await boot({ addr: server.address }, { encryptionKeySecretRefs, env }));
      open.length = 0;
    });
    afterAll(() => common.close());
    authStorageContract(() => common);
  });

  proves(
    'choice.auth-storage.one-winner',
    'has one winner among parallel writers, in memory and on several replicas',
    async () => {
      const replicas = [await boot({ addr: server.address }), await boot({ addr: server.address })];
      const memory = createMemoryStorage(Date.now);
      for (const storages of [[memory], replicas.map(({ storage }) => storage)]) {
        const writers = [0, 1, 2, 3, 4, 5].map((n) => storages[n % storages.length] as AuthStorage);
        const [first] = writers as [AuthStorage];
        for (let round = 0; round < 20; round++) {
          const key = `race:${round}`;
          const added = await Promise.all(writers.map((storage, n) => storage.add(key, { n }, MINUTE)));
          expect(added.filter(Boolean)).toHaveLength(1);
          const before = await first.get(key);
          if (before === undefined) throw new Error('no record');
          expect(before.value).toEqual({ n: added.indexOf(true) });
          const replaced = await Promise.all(writers.map((storage, n) => storage.replace(key, before, { n }, MINUTE)));
          expect(replaced.filter(Boolean)).toHaveLength(1);
          const taken = await Promise.all(writers.map((storage) => storage.take(key)));
          expect(taken.filter((record) => record !== undefined).map(({ value }) => value)).toEqual([
            { n: replaced.indexOf(true) },
          ]);
        }
      }
      await memory.close();
    },
  );

  it('uses keys with the name of the gateway as a hash tag', async () => {
    const { storage } = await boot({ addr: server.address });
    await storage.set('client:one', { a: 1 }, MINUTE);
    await storage.addMember('user:upstream:one', 'github', undefined);
    expect(
      await admin.exists('toolmgr:auth:{test-gateway}:client:one', 'toolmgr:auth:{test-gateway}:user:upstream:one'),
    ).toBe(2);
    const ttlMs = await admin.pttl('toolmgr:auth:{test-gateway}:client:one');
    expect(ttlMs).toBeGreaterThan(MINUTE - 10_000);
    expect(ttlMs).toBeLessThanOrEqual(MINUTE);
  });

  it('uses another prefix when the configuration names one', async () => {
    const { storage } = await boot({ addr: server.address, keyPrefix: 'mine:' });
    await storage.set('client:one', { a: 1 }, MINUTE);
    expect(await admin.exists('mine:client:one')).toBe(1);
  });

  it('forgets a record that was taken after a minute at most', async () => {
    const { storage } = await boot({ addr: server.address });
    await storage.set('pending:one', { a: 1 }, 10 * MINUTE);
    await storage.take('pending:one');
    expect(await admin.pttl('toolmgr:auth:{test-gateway}:pending:one')).toBeLessThanOrEqual(MINUTE);
  });

  it('reports a damaged record, and a server without memory', async () => {
    const { storage } = await boot({ addr: server.address });
    await admin.set('toolmgr:auth:{test-gateway}:damaged', `${'v'.repeat(22)} {"a":`);
    await expect(storage.get('damaged')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await using small = await startRedis({ password: PASSWORD, lines: ['maxmemory 1mb'] });
    const full = await boot({ addr: small.address });
    const fill = async () => {
      for (let n = 0; n < 200; n++) await full.storage.set(`fill:${n}`, { text: 'x'.repeat(100_000) }, MINUTE);
    };
    await expect(fill()).rejects.toMatchObject({ code: 'STORE_FULL' });
  });

  proves(
    [
      'vmcp.auth-server.redis.acl-user-config',
      'vmcp.auth-server.redis.acl-password',
      'vmcp.auth-server.redis.acl-username',
    ],
    'logs in as an ACL user with the rights of the README only, or with the password only',
    async () => {
      const rights =
        '+get +set +del +getrange +pexpire +pttl +persist +sadd +srem +scard +sismember +smembers +publish +subscribe +evalsha +eval +info +select +client|setname';
      const lines = [`user gateway on >${PASSWORD} ~toolmgr:auth:* resetchannels &toolmgr:auth:* -@all ${rights}`];
      await using limited = await startRedis({ password: 'of-the-default-user', lines });
      const aclUserConfig = { ...LOGIN, usernameSecretRef: { env: 'REDIS_USER' } };
      const { storage } = await boot({ addr: limited.address, aclUserConfig });
      await exercise(storage);
      const onlyPassword = await boot({ addr: server.address });
      await exercise(onlyPassword.storage);
      for (const [addr, login] of [
        [server.address, { passwordSecretRef: { env: 'WRONG' } }],
        [limited.address, LOGIN],
      ] as const) {
        const refused = await boot({ addr, aclUserConfig: login }).catch((cause: unknown) => cause);
        expect(refused).toMatchObject({
          code: 'STORE_UNAVAILABLE',
          message: expect.stringContaining('authServerConfig.storage.redis.aclUserConfig'),
        });
        expect(String((refused as Error).message + String((refused as Error).cause))).not.toMatch(/canary/);
      }
      await expect(
        boot({ addr: server.address, aclUserConfig: { passwordSecretRef: { env: 'NONE' } } }),
      ).rejects.toMatchObject({
        code: 'SECRET_MISSING',
        message: expect.stringContaining('aclUserConfig.passwordSecretRef'),
      });
    },
  );

  proves(
    ['vmcp.auth-server.redis.tls-presence', 'vmcp.auth-server.redis.tls-ca', 'vmcp.auth-server.redis.tls-skip-verify'],
    'uses TLS when tls is there, and verifies the certificate unless it is told not to',
    async () => {
      const made = certificates();
      await using secure = await startRedis({ password: PASSWORD, tls: made });
      const env = { CA: made.ca, OTHER_CA: certificates().ca, NO_CA: 'text' };
      const known = await boot({ addr: secure.address, tls: { caCertSecretRef: { env: 'CA' } } }, { env });
      await exercise(known.storage);
      const blind = await boot({ addr: secure.address, tls: { insecureSkipVerify: true } });
      await exercise(blind.storage);
      expect(blind.core.lines).toContainEqual({
        level: 'warn',
        message: 'the certificate of Redis is not verified',
        fields: { setting: 'authServerConfig.storage.redis.tls.insecureSkipVerify' },
      });
      for (const tls of [{}, { caCertSecretRef: { env: 'OTHER_CA' } }]) {
        const other = await boot({ addr: secure.address, tls, dialTimeout: '500ms', writeTimeout: '50ms' }, { env });
        await expect(other.storage.get('a')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
        expect(JSON.stringify(other.core.lines)).toMatch(/is unavailable.*(certificate|issuer)/);
      }
      const plain = await boot({ addr: secure.address, dialTimeout: '500ms', writeTimeout: '50ms' });
      await expect(plain.storage.get('a')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
      const tls = { caCertSecretRef: { env: 'NO_CA' } };
      await expect(boot({ addr: secure.address, tls }, { env })).rejects.toMatchObject({
        code: 'PLAN_INVALID',
        message: expect.stringContaining('storage.redis.tls.caCertSecretRef'),
      });
    },
  );

  proves(
    'vmcp.auth-server.redis.cluster-mode',
    'works on a Cluster, with all keys of a gateway in one slot',
    async () => {
      await using cluster = await startRedisCluster(PASSWORD);
      const [first] = cluster.nodes as [RedisServer];
      const { storage, core } = await boot({ addr: first.address, clusterMode: true });
      await exercise(storage);
      await Promise.all(Array.from({ length: 50 }, (_, n) => storage.set(`many:${n}`, { n }, MINUTE)));
      const sizes = await Promise.all(
        cluster.nodes.map(async ({ port }) => {
          const node = new Redis({ port, password: PASSWORD });
          const size = await node.dbsize();
          node.disconnect();
          return size;
        }),
      );
      expect(sizes.filter((size) => size > 0)).toHaveLength(1);
      const wrong = { passwordSecretRef: { env: 'WRONG' } };
      const refused = boot({ addr: first.address, clusterMode: true, aclUserConfig: wrong });
      await expect(refused).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });

      const owner = cluster.nodes[sizes.findIndex((size) => size > 0)] as RedisServer;
      await owner.kill();
      await expect(storage.get('many:1')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
      await expect(storage.get('many:1')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
      await owner.restart();
      await until(async () => (await storage.add('after:1', { a: 1 }, MINUTE).catch(() => false)) === true, 30_000);
      expect(core.lines.map(({ message }) => message).filter((message) => message.includes('Cluster'))).toEqual([
        'the Redis Cluster does not serve the keys of the authorization server',
        'the Redis Cluster serves the keys of the authorization server again',
      ]);
    },
  );

  proves(
    ['vmcp.auth-server.redis.sentinel-service-namespace', 'vmcp.auth-server.redis.sentinel-service-port'],
    'finds a sentinelService by DNS, in the same namespace by default',
    () => {
      const addressOf = (sentinelService: object) => {
        const redis = { aclUserConfig: LOGIN, sentinelConfig: { masterName: 'main', sentinelService } };
        const config = storageConfig.parse({ type: 'redis', redis }).redis;
        return config === undefined ? undefined : redisTarget(pluginCore().slots, config).address;
      };
      expect(addressOf({ name: 'sentinel' })).toBe('main of Sentinel sentinel:26379');
      expect(addressOf({ name: 'sentinel', namespace: 'data', port: 5 })).toBe('main of Sentinel sentinel.data.svc:5');
    },
  );

  describe.skipIf(sentinelMissing)('with Sentinel', () => {
    proves(
      ['vmcp.auth-server.redis.sentinel-service-name', 'vmcp.auth-server.redis.sentinel-addrs'],
      'connects to the Sentinels of a service',
      async () => {
        await using group = await startSentinelGroup({ password: PASSWORD });
        const port = Number(group.sentinels[0]?.split(':')[1]);
        const sentinelService = { name: 'localhost', port };
        const { storage } = await boot({ sentinelConfig: { masterName: group.masterName, sentinelService } });
        await exercise(storage);
      },
    );

    proves(
      [
        'vmcp.auth-server.redis.sentinel-master-name',
        'vmcp.auth-server.redis.sentinel-db',
        'vmcp.auth-server.redis.tls-ca',
      ],
      'finds the master, uses TLS for it and the Sentinels, and continues after a failover without a failed operation',
      async () => {
        const made = certificates();
        await using group = await startSentinelGroup({ password: PASSWORD, tls: made });
        const tls = { caCertSecretRef: { env: 'CA' } };
        const sentinelConfig = { masterName: group.masterName, sentinelAddrs: group.sentinels, db: 3 };
        const { storage, core } = await boot(
          { sentinelConfig, tls, sentinelTls: tls, writeTimeout: '20s' },
          { env: { CA: made.ca } },
        );
        await exercise(storage);
        await storage.set('kept:1', { a: 1 }, MINUTE);
        const before = await storage.get('kept:1');
        const node = new Redis({ port: group.replica.port, password: PASSWORD, db: 3, tls: { ca: made.ca } });
        await until(async () => (await node.exists('toolmgr:auth:{test-gateway}:kept:1')) === 1);
        node.disconnect();
        await group.master.kill();
        if (before === undefined) throw new Error('no record');
        const work = [
          storage.replace('kept:1', before, { a: 2 }, MINUTE),
          storage.add('added:1', { a: 1 }, MINUTE),
          storage.set('set:1', { a: 1 }, MINUTE),
          storage.get('kept:1'),
        ];
        expect((await Promise.all(work)).slice(0, 2)).toEqual([true, true]);
        await until(async () => (await group.masterPort()) === group.replica.port, 30_000);
        expect((await storage.get('kept:1'))?.value).toEqual({ a: 2 });
        await exercise(storage);
        const told = core.lines.map(({ message }) => message).filter((message) => message.includes('available'));
        // the client may connect before the Sentinels announce the new master, and connects again after that
        const outage = [
          'the Redis of the authorization server is unavailable',
          'the Redis of the authorization server is available again',
        ];
        expect([outage, [...outage, ...outage]]).toContainEqual(told);
      },
    );
  });
});

/** Uses every operation once. */
async function exercise(storage: AuthStorage): Promise<void> {
  await storage.delete('use:1');
  expect(await storage.add('use:1', { a: 1 }, MINUTE)).toBe(true);
  const before = await storage.get('use:1');
  expect(before !== undefined && (await storage.replace('use:1', before, { a: 2 }, undefined))).toBe(true);
  await storage.touch('use:1', MINUTE);
  expect((await storage.take('use:1'))?.value).toEqual({ a: 2 });
  await storage.set('use:1', {}, MINUTE);
  await storage.delete('use:1');
  await storage.addMember('use:set', 'a', MINUTE);
  await storage.addMember('use:set', 'a', undefined);
  expect(await storage.members('use:set')).toEqual(['a']);
  await storage.removeMember('use:set', 'a');
}
