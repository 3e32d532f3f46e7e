import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { storageConfig } from '../../../../plugins/auth-server/storage/config.ts';
import { createAuthStorage } from '../../../../plugins/auth-server/storage/create-auth-storage.ts';
import { createKeyRing } from '../../../../plugins/auth-server/storage/key-ring.ts';
import { pluginCore } from '../../../support/plugin-core.ts';
import { proves } from '../../../support/proves.ts';
import { type RedisServer, redisMissing, startRedis } from '../../../support/redis.ts';

const MINUTE = 60_000;
const CANARY = 'canary-upstream-token';
const PREFIX = 'toolmgr:auth:{test-gateway}:';
const ENVIRONMENT = {
  PASSWORD: 'password',
  OLD: 'old-'.repeat(8),
  NEW: 'new-'.repeat(8),
  SHORT: 'x'.repeat(31),
};

describe('the key ring', () => {
  const ring = (...secrets: string[]) =>
    createKeyRing(
      secrets.map((text) => Buffer.from(text)),
      'keys',
    );
  const [old, young] = [ENVIRONMENT.OLD, ENVIRONMENT.NEW];

  proves('choice.auth-storage.rotation', 'encrypts with the first secret and decrypts with all', () => {
    const before = ring(old).seal('a', { token: CANARY });
    const rotated = ring(young, old);
    expect(rotated.open('a', before)).toEqual({ token: CANARY });
    const after = rotated.seal('a', { token: CANARY });
    expect(ring(young).open('a', after)).toEqual({ token: CANARY });
    expect(() => ring(old).open('a', after)).toThrow(/no secret of keys has the key id/);
    expect(JSON.stringify([before, after])).not.toMatch(/canary/);
    expect(after.kid).not.toBe(before.kid);
  });

  it('encrypts the same value differently each time', () => {
    const { seal } = ring(old);
    expect(seal('a', { b: 1 }).sealed).not.toBe(seal('a', { b: 1 }).sealed);
  });

  it('refuses a record under another name', () => {
    const { seal, open } = ring(old);
    expect(() => open('upstream:mallory', seal('upstream:alice', { token: CANARY }))).toThrow(/changed or moved/);
  });

  it('refuses every record with a changed or missing byte', () => {
    const { seal, open } = ring(old);
    const { kid, sealed } = seal('a', { b: 1 });
    const bytes = Buffer.from(sealed, 'base64');
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => open('a', { kid, sealed: changed.toString('base64') })).toThrow(/changed or moved/);
      expect(() => open('a', { kid, sealed: bytes.subarray(0, at).toString('base64') })).toThrow(/changed or moved/);
    }
  });

  it('refuses short secrets and an empty ring', () => {
    expect(() => ring(old, ENVIRONMENT.SHORT)).toThrow(/keys\[1\]: expected at least 32 bytes, got 31/);
    expect(() => ring()).toThrow(/expected a secret/);
  });
});

describe.skipIf(redisMissing)('records in Redis', () => {
  let server: RedisServer;
  let admin: Redis;
  beforeAll(async () => {
    server = await startRedis({ password: ENVIRONMENT.PASSWORD });
    // without the check `info`, whose reply may come between that of `monitor` and what is monitored: ioredis fails then
    admin = new Redis({ port: server.port, password: ENVIRONMENT.PASSWORD, enableReadyCheck: false });
  });
  afterAll(async () => {
    admin.disconnect();
    await server[Symbol.asyncDispose]();
  });

  async function boot(keys: readonly string[], more: object = {}) {
    const core = pluginCore(ENVIRONMENT);
    const aclUserConfig = { passwordSecretRef: { env: 'PASSWORD' } };
    const storage = await createAuthStorage(
      core,
      storageConfig.parse({
        type: 'redis',
        redis: { addr: server.address, aclUserConfig },
        encryptionKeySecretRefs: keys.map((env) => ({ env })),
        ...more,
      }),
    );
    return { storage, core, [Symbol.asyncDispose]: () => storage.close() };
  }

  proves(
    'choice.auth-storage.encrypted',
    'show no value to someone who reads the commands or the data, when a key is given',
    async () => {
      const monitor = await admin.monitor();
      const seen: string[] = [];
      monitor.on('monitor', (_time: string, args: string[]) => void seen.push(args.join(' ')));
      await using booted = await boot(['NEW']);
      const { storage, core } = booted;
      await storage.set('upstream:alice:github', { accessToken: CANARY, refreshToken: `${CANARY}-2` }, MINUTE);
      await storage.add('client:a', { client_secret: CANARY }, MINUTE);
      const before = await storage.get('client:a');
      expect(
        before !== undefined && (await storage.replace('client:a', before, { client_secret: CANARY }, MINUTE)),
      ).toBe(true);
      await storage.set('pending:a', { verifier: CANARY }, MINUTE);
      expect((await storage.take('pending:a'))?.value).toEqual({ verifier: CANARY });
      const values = await Promise.all((await admin.keys('*')).map((key) => admin.get(key)));
      expect(values).toHaveLength(3);
      expect(values.join()).not.toMatch(/canary|token/);
      expect(seen.join('\n')).toContain('upstream:alice:github');
      expect(seen.join('\n')).not.toMatch(/canary/);
      expect(core.lines).toEqual([]);
      monitor.disconnect();
    },
  );

  proves('choice.auth-storage.bound-to-key', 'are moved to another key in vain', async () => {
    await using booted = await boot(['NEW']);
    const { storage, core } = booted;
    await storage.set('upstream:alice:github', { token: CANARY }, MINUTE);
    await admin.copy(`${PREFIX}upstream:alice:github`, `${PREFIX}upstream:mallory:github`);
    expect(await storage.get('upstream:mallory:github')).toBeUndefined();
    expect(core.lines).toEqual([
      {
        level: 'warn',
        message: 'stored records of the authorization server cannot be read, and count as absent',
        fields: { cause: 'the record was changed or moved' },
      },
    ]);
    expect(await storage.add('upstream:mallory:github', { token: 'own' }, MINUTE)).toBe(true);
    expect((await storage.take('upstream:mallory:github'))?.value).toEqual({ token: 'own' });
    await admin.copy(`${PREFIX}upstream:alice:github`, `${PREFIX}upstream:mallory:github`);
    expect(await storage.take('upstream:mallory:github')).toBeUndefined();
    expect(await storage.add('upstream:alice:github', { token: 'other' }, MINUTE)).toBe(false);
  });

  it('are written with a new secret, and readable with the old one until they are written again', async () => {
    await using before = await boot(['OLD']);
    await before.storage.set('upstream:bob:github', { token: 1 }, MINUTE);
    await using during = await boot(['NEW', 'OLD']);
    const record = await during.storage.get('upstream:bob:github');
    expect(record?.value).toEqual({ token: 1 });
    if (record === undefined) throw new Error('no record');
    await using after = await boot(['NEW']);
    expect(await after.storage.get('upstream:bob:github')).toBeUndefined();
    expect(JSON.stringify(after.core.lines)).toContain('no secret of authServerConfig.storage.encryptionKeySecretRefs');
    expect(await during.storage.replace('upstream:bob:github', record, { token: 2 }, MINUTE)).toBe(true);
    expect((await after.storage.get('upstream:bob:github'))?.value).toEqual({ token: 2 });
  });

  proves(
    'choice.auth-storage.unencrypted-refused',
    'without encryption are refused when a key is given, unless readUnencrypted is set',
    async () => {
      await using plain = await boot([]);
      expect(plain.core.lines.map(({ level, message }) => `${level} ${message}`)).toEqual([
        expect.stringMatching(/^warn .*without encryption; set storage\.encryptionKeySecretRefs$/),
      ]);
      await plain.storage.set('upstream:carol:github', { token: 1 }, MINUTE);
      await using strict = await boot(['NEW']);
      expect(await strict.storage.get('upstream:carol:github')).toBeUndefined();
      expect(JSON.stringify(strict.core.lines)).toContain('storage.readUnencrypted');
      await using moving = await boot(['NEW'], { readUnencrypted: true });
      const record = await moving.storage.get('upstream:carol:github');
      expect(record?.value).toEqual({ token: 1 });
      await moving.storage.set('upstream:carol:github', { token: 1 }, MINUTE);
      expect((await strict.storage.get('upstream:carol:github'))?.value).toEqual({ token: 1 });
    },
  );

  it('need secrets of 32 bytes', async () => {
    await expect(boot(['NEW', 'SHORT'])).rejects.toMatchObject({
      code: 'PLAN_INVALID',
      message: expect.stringContaining('authServerConfig.storage.encryptionKeySecretRefs[1]'),
    });
  });
});
