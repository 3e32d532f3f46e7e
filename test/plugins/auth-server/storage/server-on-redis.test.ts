import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { storageConfig } from '../../../../plugins/auth-server/storage/config.ts';
import { createAuthStorage } from '../../../../plugins/auth-server/storage/create-auth-storage.ts';
import { accountsOnMemory, NEVER, signedIn } from '../../../support/accounts.ts';
import { type AuthServerRig, authServerRig, REDIRECT } from '../../../support/auth-server-rig.ts';
import { pluginCore } from '../../../support/plugin-core.ts';
import { proves } from '../../../support/proves.ts';
import { type RedisServer, redisMissing, startRedis } from '../../../support/redis.ts';
import { type RedisSecretFiles, redisSecretFiles } from '../../../support/redis-auth-storage.ts';
import { sentinelMissing, startSentinelGroup } from '../../../support/redis-sentinel.ts';
import { until } from '../../../support/until.ts';

const refresh = (rig: AuthServerRig, clientId: string, token: string) =>
  rig.token({ grant_type: 'refresh_token', client_id: clientId, refresh_token: token });

describe.skipIf(redisMissing)('the authorization server on Redis', () => {
  let files: RedisSecretFiles;
  let server: RedisServer;
  beforeAll(async () => {
    files = await redisSecretFiles();
    server = await startRedis({ password: files.password });
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await files[Symbol.asyncDispose]();
  });

  /** The section `storage`. */
  const storageOf = (redis: object, isEncrypted = true) => ({
    type: 'redis' as const,
    redis: { aclUserConfig: files.aclUserConfig, ...redis },
    encryptionKeySecretRefs: isEncrypted ? [...files.encryptionKeySecretRefs] : [],
  });
  const replicaOf = (first: AuthServerRig, redis: object) =>
    authServerRig({ issuer: first.issuer, config: { storage: storageOf(redis) } });

  describe('with two replicas', () => {
    let one: AuthServerRig;
    let two: AuthServerRig;
    beforeAll(async () => {
      one = await authServerRig({ config: { storage: storageOf({ addr: server.address }) } });
      two = await replicaOf(one, { addr: server.address });
    });
    afterAll(async () => {
      await one[Symbol.asyncDispose]();
      await two[Symbol.asyncDispose]();
    });
    const both = () => [one, two, one, two, one, two];

    it('signs a person in whose browser changes the replica with every request', async () => {
      const clientId = await two.register();
      const { url, browser, exchange } = one.begin(clientId);
      let next = url;
      for (let hop = 0; !next.startsWith(REDIRECT); hop++) {
        if (hop > 20) throw new Error('the redirects do not end');
        const at = hop % 2 === 0 ? two : one;
        const answer = await browser.get(next.replace(one.http.origin, at.http.origin));
        next = new URL(answer.headers.get('location') ?? 'missing:', next).href;
      }
      const { status } = await exchange(new URL(next).searchParams.get('code') ?? '');
      expect(status).toBe(200);
    });

    proves(
      'choice.auth-storage.replicas',
      'gives tokens for a code once, to one of several requests at the same time',
      async () => {
        for (let round = 0; round < 5; round++) {
          const clientId = await one.register();
          const attempt = one.begin(clientId);
          const code = (await attempt.finish()).get('code') ?? '';
          const form = {
            grant_type: 'authorization_code',
            client_id: clientId,
            code,
            redirect_uri: REDIRECT,
            code_verifier: attempt.verifier,
          };
          const answers = await Promise.all(both().map((rig) => rig.token(form)));
          const granted = answers.filter(({ status }) => status === 200);
          expect(granted.length).toBeLessThanOrEqual(1);
          for (const { status, body } of answers) if (status !== 200) expect(body.error).toBe('invalid_grant');
          // the second use ends the session
          for (const { body } of granted) {
            expect((await refresh(two, clientId, body.refresh_token ?? '')).body.error).toBe('invalid_grant');
          }
        }
      },
    );

    proves(
      'choice.auth-storage.replicas',
      'gives the same next refresh token to requests at the same time',
      async () => {
        const { clientId, refresh: first } = await one.tokens();
        const answers = await Promise.all(both().map((rig) => refresh(rig, clientId, first)));
        expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
        const [next = '', ...others] = new Set(answers.map(({ body }) => body.refresh_token));
        expect(others).toEqual([]);
        expect((await refresh(two, clientId, next)).status).toBe(200);
      },
    );

    it('refuses a token on one replica that was revoked on the other', async () => {
      const { clientId, refresh: token, claims } = await one.tokens();
      expect(await two.server.issuer.isWithdrawn(claims)).toBe(false);
      expect((await one.post('/oauth/revoke', { token, client_id: clientId })).status).toBe(200);
      expect((await refresh(two, clientId, token)).body.error).toBe('invalid_grant');
      two.http.clock.aheadMs = 10_000;
      expect(await two.server.issuer.isWithdrawn(claims)).toBe(true);
      two.http.clock.aheadMs = 0;
    });

    proves(
      'choice.auth-storage.changes-heard',
      'tells the other replica at once that an account was connected, and that a session has ended',
      async () => {
        const test = accountsOnMemory();
        const config = storageConfig.parse(storageOf({ addr: server.address, keyPrefix: 'changes:' }));
        const storages = [
          await createAuthStorage(pluginCore(), config),
          await createAuthStorage(pluginCore(), config),
        ] as const;
        const heard: string[] = [];
        const here = test.replica(storages[0]);
        const there = test.replica(storages[1], (person) => heard.push(person));
        const { caller, person } = await signedIn({ ...test, accounts: here.accounts }, test.idp);
        const grant = test.github.grant('ada');
        await until(async () => {
          await here.accounts.connect(person, 'github', grant); // until the other replica listens
          return heard.includes(person);
        });
        const before = await there.upstreamTokens.obtain(caller, 'github', NEVER);
        expect(there.upstreamTokens.known(caller, 'github')).toBe(before);
        await here.accounts.disconnect(person, 'github', NEVER);
        await until(() => there.upstreamTokens.known(caller, 'github') === undefined); // no time passes on the clock
        expect(there.upstreamTokens.known(caller, 'idp')).toBeUndefined();
        await there.upstreamTokens.obtain(caller, 'idp', NEVER);
        await here.accounts.endSession(String(caller.claims.tsid));
        await until(() => there.upstreamTokens.known(caller, 'idp') === undefined);
        for (const storage of storages) await storage.close();
      },
    );

    proves('choice.auth-storage.upstream-once', 'refreshes an upstream token once', async () => {
      const test = accountsOnMemory();
      const config = storageConfig.parse(storageOf({ addr: server.address, keyPrefix: 'accounts:' }));
      const storages = [
        await createAuthStorage(pluginCore(), config),
        await createAuthStorage(pluginCore(), config),
      ] as const;
      const replicas = storages.map((storage) => test.replica(storage));
      const [first] = replicas as [(typeof replicas)[0]];
      const { caller } = await signedIn({ ...test, accounts: first.accounts }, test.idp);
      test.clock.advance(3_600_000);
      test.idp.next.before = () => pause(150);
      const obtained = await Promise.all(
        [...replicas, ...replicas].map(({ upstreamTokens }) => upstreamTokens.obtain(caller, 'idp', NEVER)),
      );
      expect(new Set(obtained.map(({ accessToken }) => accessToken.reveal())).size).toBe(1);
      expect(test.idp.refreshes).toHaveLength(1);
      for (const storage of storages) await storage.close();
    });
  });

  for (const isEncrypted of [true, false]) {
    proves(
      'choice.auth-storage.no-secrets',
      `shows no code, token, cookie or client secret in Redis ${isEncrypted ? 'with' : 'without'} a key`,
      async () => {
        await using own = await startRedis({ password: files.password });
        await using rig = await authServerRig({
          config: { confidentialClients: true, storage: storageOf({ addr: own.address }, isEncrypted) },
        });
        // without the check `info`, whose reply may come between that of `monitor` and what is monitored: ioredis fails then
        const admin = new Redis({ port: own.port, password: files.password, enableReadyCheck: false });
        await until(async () => (await admin.pubsub('CHANNELS')).length > 0); // all connections are open
        const monitor = await admin.monitor();
        const seen: string[] = [];
        monitor.on('monitor', (_time: string, args: string[]) => void seen.push(args.join(' ')));
        const registered = await fetch(`${rig.http.origin}/oauth/register`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({
            redirect_uris: ['https://client.example/callback'],
            token_endpoint_auth_method: 'client_secret_post',
          }),
        });
        const { client_secret: secret } = (await registered.json()) as { readonly client_secret: string };
        expect(secret).toEqual(expect.any(String));
        const clientId = await rig.register();
        const attempt = rig.begin(clientId);
        const code = (await attempt.finish()).get('code') ?? '';
        const { body } = await attempt.exchange(code);
        const next = (await refresh(rig, clientId, body.refresh_token ?? '')).body;
        const cookies = [...attempt.browser.cookies.values()].map(({ value }) => value);
        expect(cookies.length).toBeGreaterThan(0);
        const secrets = [
          secret,
          code,
          body.access_token,
          body.refresh_token,
          next.refresh_token,
          ...cookies,
          files.password,
        ];
        await until(() => seen.join('\n').includes('authcode:'));
        monitor.disconnect();
        const keys = await admin.keys('*');
        const values = await Promise.all(keys.map((key) => admin.get(key).catch(() => admin.smembers(key))));
        const all = [...seen, ...keys, ...values.flat()].join('\n');
        expect(keys.length).toBeGreaterThan(5);
        for (const text of secrets) {
          expect(text?.length).toBeGreaterThan(15);
          // the random part of a signed text, too
          for (const part of String(text).split('.')) if (part.length > 15) expect(all).not.toContain(part);
        }
        // personal data and metadata are readable only without a key
        expect(all.includes('ada@example.com')).toBe(!isEncrypted);
        expect(all.includes(REDIRECT)).toBe(!isEncrypted);
        admin.disconnect();
      },
    );
  }

  proves('choice.auth-storage.hangs', 'answers 503 while Redis hangs, within its timeouts, and recovers', async () => {
    await using own = await startRedis({ password: files.password });
    const storage = storageOf({ addr: own.address, readTimeout: '300ms', writeTimeout: '300ms' });
    await using rig = await authServerRig({ config: { storage } });
    const { clientId, refresh: token } = await rig.tokens();
    const attempt = rig.begin(clientId);
    const code = (await attempt.finish()).get('code') ?? '';
    own.pause();
    const startedMs = performance.now();
    const answers = [
      await refresh(rig, clientId, token),
      await attempt.exchange(code),
      await rig.post('/oauth/revoke', { token, client_id: clientId }),
    ];
    for (const { status, headers, body } of answers) {
      expect({ status, error: body.error }).toEqual({ status: 503, error: 'temporarily_unavailable' });
      expect(headers.get('retry-after')).toBe('5');
    }
    const page = await attempt.browser.get(rig.begin(clientId).url);
    expect(page.status).toBe(503);
    expect(await page.text()).not.toMatch(/Redis|127\.0\.0\.1/);
    expect(performance.now() - startedMs).toBeLessThan(10_000);
    own.resume();
    await until(async () => (await refresh(rig, clientId, token)).status === 200);
    expect((await attempt.exchange(code)).status).toBe(200);
    const lines = rig.http.logged.filter(({ level }) => level === 'error' || level === 'warn');
    expect(lines.filter(({ message }) => message.startsWith('requests of the authorization server fail'))).toHaveLength(
      1,
    );
    expect(lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  describe.skipIf(sentinelMissing)('with Sentinel', () => {
    proves(
      'choice.auth-storage.failover',
      'loses no sign-in when the master is killed in the middle of code exchanges and refreshes',
      async () => {
        await using group = await startSentinelGroup({ password: files.password });
        const sentinelConfig = { masterName: group.masterName, sentinelAddrs: [...group.sentinels] };
        const redis = { sentinelConfig, writeTimeout: '40s' };
        await using one = await authServerRig({ config: { storage: storageOf(redis) } });
        await using two = await replicaOf(one, redis);
        const clientId = await one.register();
        const attempts = await Promise.all(
          Array.from({ length: 6 }, async () => {
            const attempt = one.begin(clientId);
            return { attempt, code: (await attempt.finish()).get('code') ?? '' };
          }),
        );
        const people = await Promise.all(Array.from({ length: 6 }, () => one.tokens(clientId)));
        const replica = new Redis({ port: group.replica.port, password: files.password });
        const master = new Redis({ port: group.master.port, password: files.password });
        await until(async () => (await replica.dbsize()) === (await master.dbsize()));
        await master.wait(1, 1000);
        replica.disconnect();
        master.disconnect();

        let isOver = false;
        /** One client that refreshes without a pause, on both replicas in turn. */
        const refreshes = people.map(async ({ refresh: first }) => {
          let token = first;
          let count = 0;
          while (!isOver) {
            const { status, body } = await refresh(count++ % 2 === 0 ? one : two, clientId, token);
            expect({ status, error: body.error }, JSON.stringify([one, two].map(({ http }) => http.logged))).toEqual({
              status: 200,
              error: undefined,
            });
            token = body.refresh_token ?? '';
          }
          return token;
        });
        await pause(300);
        const killed = group.master.kill();
        const exchanges = attempts.map(({ attempt, code }) => attempt.exchange(code));
        await killed;
        const issued = await Promise.all(exchanges);
        expect(issued.map(({ status, body }) => ({ status, error: body.error }))).toEqual(
          issued.map(() => ({ status: 200, error: undefined })),
        );
        await until(async () => (await group.masterPort()) === group.replica.port, 30_000);
        isOver = true;
        const last = await Promise.all(refreshes);
        for (const token of [...last, ...issued.map(({ body }) => body.refresh_token ?? '')]) {
          expect((await refresh(two, clientId, token)).status).toBe(200);
        }
      },
    );
  });
});
