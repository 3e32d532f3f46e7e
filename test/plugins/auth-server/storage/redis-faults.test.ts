import { afterEach, describe, expect, it } from 'vitest';
import { storageConfig } from '../../../../plugins/auth-server/storage/config.ts';
import { createAuthStorage } from '../../../../plugins/auth-server/storage/create-auth-storage.ts';
import type { AuthStorage } from '../../../../plugins/auth-server/storage/storage.ts';
import { cuttingProxy } from '../../../support/cutting-proxy.ts';
import { pluginCore } from '../../../support/plugin-core.ts';
import { proves } from '../../../support/proves.ts';
import { redisMissing, startRedis } from '../../../support/redis.ts';
import { until } from '../../../support/until.ts';

const MINUTE = 60_000;
const PASSWORD = 'canary-password';
const UNAVAILABLE = { code: 'STORE_UNAVAILABLE' };

describe.skipIf(redisMissing)('the storage, when Redis fails', () => {
  const open: AuthStorage[] = [];
  afterEach(async () => {
    for (const storage of open.splice(0)) await storage.close();
  });

  async function boot(addr: string, redis: object = {}) {
    const core = pluginCore({ PASSWORD, KEY: 'k'.repeat(32) });
    const aclUserConfig = { passwordSecretRef: { env: 'PASSWORD' } };
    const storage = await createAuthStorage(
      core,
      storageConfig.parse({
        type: 'redis',
        redis: { addr, aclUserConfig, ...redis },
        encryptionKeySecretRefs: [{ env: 'KEY' }],
      }),
    );
    open.push(storage);
    return { storage, core };
  }

  proves(
    'choice.auth-storage.lost-answer',
    'repeats an operation whose answer was lost, and has its effect once',
    async () => {
      await using server = await startRedis({ password: PASSWORD });
      await using proxy = await cuttingProxy(server.port);
      const { storage } = await boot(proxy.address);
      const cut = <T>(operation: () => Promise<T>): Promise<T> => {
        proxy.cutNextAnswer();
        return operation();
      };
      expect(await cut(() => storage.add('a:1', { n: 1 }, MINUTE))).toBe(true);
      expect(await cut(() => storage.add('a:1', { n: 2 }, MINUTE))).toBe(false);
      const before = await cut(() => storage.get('a:1'));
      expect(before?.value).toEqual({ n: 1 });
      if (before === undefined) throw new Error('no record');
      expect(await cut(() => storage.replace('a:1', before, { n: 3 }, MINUTE))).toBe(true);
      expect(await cut(() => storage.replace('a:1', before, { n: 4 }, MINUTE))).toBe(false);
      expect((await cut(() => storage.take('a:1')))?.value).toEqual({ n: 3 });
      expect(await cut(() => storage.take('a:1'))).toBeUndefined();
      await cut(() => storage.set('a:2', { n: 5 }, MINUTE));
      await cut(() => storage.touch('a:2', MINUTE));
      await cut(() => storage.addMember('s:1', 'a', MINUTE));
      expect(await cut(() => storage.members('s:1'))).toEqual(['a']);
      await cut(() => storage.removeMember('s:1', 'a'));
      expect(await storage.members('s:1')).toEqual([]);
      await cut(() => storage.delete('a:2'));
      expect(await storage.get('a:2')).toBeUndefined();
      expect(proxy.cuts).toBe(13);
    },
  );

  it('continues after a restart of the server within writeTimeout, without a failed operation', async () => {
    await using server = await startRedis({ password: PASSWORD, keep: true });
    const { storage, core } = await boot(server.address, { writeTimeout: '20s' });
    await storage.set('a:1', { n: 1 }, MINUTE);
    await server.kill();
    const reads = Array.from({ length: 50 }, () => storage.get('a:1'));
    await server.restart();
    expect((await Promise.all(reads)).map((record) => record?.value)).toEqual(reads.map(() => ({ n: 1 })));
    expect(core.lines.map(({ level, message }) => `${level} ${message}`)).toEqual([
      'warn the Redis of the authorization server is unavailable',
      'info the Redis of the authorization server is available again',
    ]);
    expect(JSON.stringify(core.lines)).not.toMatch(/canary/);
  });

  proves(
    ['vmcp.auth-server.redis.read-timeout', 'vmcp.auth-server.redis.write-timeout'],
    'waits for an answer for readTimeout, and for a connection for writeTimeout',
    async () => {
      await using server = await startRedis({ password: PASSWORD });
      const patient = await boot(server.address, { readTimeout: '300ms', writeTimeout: '60s' });
      const { storage } = await boot(server.address, { readTimeout: '300ms', writeTimeout: '1500ms' });
      for (const one of [patient.storage, storage]) await one.set('a:1', { n: 1 }, MINUTE);
      server.pause();
      const silentMs = await elapsed(() => expect(patient.storage.get('a:1')).rejects.toMatchObject(UNAVAILABLE));
      expect(silentMs).toBeGreaterThanOrEqual(290);
      expect(silentMs).toBeLessThan(30_000);
      server.resume();
      await until(async () => (await storage.get('a:1').catch(() => undefined)) !== undefined);
      await server.kill();
      const awayMs = await elapsed(() => expect(storage.get('a:1')).rejects.toMatchObject(UNAVAILABLE));
      expect(awayMs).toBeGreaterThan(1_000);
      expect(awayMs).toBeLessThan(8_000);
    },
  );

  proves(
    'vmcp.auth-server.redis.dial-timeout',
    'waits for the first connection for dialTimeout, starts without it, and connects later',
    async () => {
      await using server = await startRedis({ password: PASSWORD });
      server.pause();
      const startedMs = performance.now();
      const { storage } = await boot(server.address, {
        dialTimeout: '400ms',
        writeTimeout: '50ms',
        readTimeout: '400ms',
      });
      const tookMs = performance.now() - startedMs;
      expect(tookMs).toBeGreaterThanOrEqual(390);
      expect(tookMs).toBeLessThan(4_000);
      await expect(storage.get('a:1')).rejects.toMatchObject(UNAVAILABLE);
      server.resume();
      await until(async () => (await storage.add('a:1', { n: 1 }, MINUTE).catch(() => false)) === true);
    },
  );

  proves('choice.auth-storage.long-outage', 'fails at once in a long outage, and recovers by itself', async () => {
    await using server = await startRedis({ password: PASSWORD });
    const { storage } = await boot(server.address, { writeTimeout: '300ms', readTimeout: '300ms' });
    await server.kill();
    const beganMs = performance.now();
    while (performance.now() - beganMs < 10_500) await storage.get('a:1').catch(() => {});
    const times: number[] = [];
    for (let n = 0; n < 5; n++)
      times.push(await elapsed(() => expect(storage.get('a:1')).rejects.toMatchObject(UNAVAILABLE)));
    expect(Math.min(...times)).toBeLessThan(200); // the fastest: the machine of the test has other work
    await server.restart();
    await until(async () => (await storage.add('a:1', { n: 1 }, MINUTE).catch(() => false)) === true);
  });

  it('limits the operations that wait for a hung server', async () => {
    await using server = await startRedis({ password: PASSWORD });
    const { storage } = await boot(server.address, { readTimeout: '3s' });
    server.pause();
    const asked = Array.from({ length: 10_001 }, () => storage.members('x').catch((cause: Error) => cause.message));
    expect(await asked.at(-1)).toMatch(/10000 operations wait/);
    server.resume();
    await Promise.all(asked);
  });

  it('ends the operations that wait when it is closed', async () => {
    await using server = await startRedis({ password: PASSWORD });
    const { storage } = await boot(server.address, { writeTimeout: '60s' });
    await server.kill();
    const waiting = storage.get('a:1');
    const failed = expect(waiting).rejects.toMatchObject(UNAVAILABLE);
    await storage.close();
    await failed;
    await expect(storage.get('a:1')).rejects.toMatchObject(UNAVAILABLE);
  });
});

async function elapsed(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}
