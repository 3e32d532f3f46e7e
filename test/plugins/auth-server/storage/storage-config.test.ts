import { describe, expect, it } from 'vitest';
import { storageConfig } from '../../../../plugins/auth-server/storage/config.ts';
import { proves } from '../../../support/proves.ts';

const LOGIN = { passwordSecretRef: { name: 'redis', key: 'password' } };
const ADDR = { aclUserConfig: LOGIN, addr: 'redis.internal:6379' };
const SENTINEL = { masterName: 'main', sentinelAddrs: ['one:26379', '[::1]:2'] };

const redisOf = (redis: object) => storageConfig.parse({ type: 'redis', redis }).redis;
/** `path: message` of each problem. */
const problemsOf = (section: object): readonly string[] =>
  (storageConfig.safeParse(section).error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`);
const redisProblems = (redis: object) => problemsOf({ type: 'redis', redis });

describe('storage of authServerConfig', () => {
  proves('vmcp.auth-server.storage-type', 'is memory by default, or redis', () => {
    expect(storageConfig.parse({})).toMatchObject({ type: 'memory' });
    expect(storageConfig.parse({ type: 'redis', redis: ADDR }).type).toBe('redis');
    expect(problemsOf({ type: 'file' })).toEqual([expect.stringMatching(/^type: .*memory.*redis/)]);
  });

  proves('vmcp.auth-server.storage-redis-required', 'requires redis with the type redis, and only then', () => {
    expect(problemsOf({ type: 'redis' })).toEqual(['redis: missing; type redis requires it']);
    expect(problemsOf({ redis: ADDR })).toEqual(['redis: has no effect with type memory; set type: redis']);
  });

  it('refuses settings of the encryption that have no effect', () => {
    const encryptionKeySecretRefs = [{ env: 'KEY' }];
    expect(problemsOf({ encryptionKeySecretRefs })).toEqual([
      'encryptionKeySecretRefs: has no effect with type memory',
    ]);
    expect(problemsOf({ type: 'redis', redis: ADDR, readUnencrypted: true })).toEqual([
      'readUnencrypted: requires encryptionKeySecretRefs',
    ]);
    expect(problemsOf({ type: 'redis', redis: ADDR, readUnencrypted: true, encryptionKeySecretRefs })).toEqual([]);
  });

  proves(
    [
      'vmcp.auth-server.redis.acl-user-config',
      'vmcp.auth-server.redis.acl-password',
      'vmcp.auth-server.redis.acl-username',
    ],
    'requires a password by reference; the user name is optional',
    () => {
      expect(redisProblems({ addr: 'a:1' })).toEqual([expect.stringMatching(/^redis\.aclUserConfig: /)]);
      expect(redisProblems({ addr: 'a:1', aclUserConfig: {} })).toEqual([
        expect.stringMatching(/^redis\.aclUserConfig\.passwordSecretRef: /),
      ]);
      expect(redisProblems({ addr: 'a:1', aclUserConfig: { passwordSecretRef: { name: 'redis' } } })).not.toEqual([]);
      expect(
        redisOf({ ...ADDR, aclUserConfig: { ...LOGIN, usernameSecretRef: { name: 'redis', key: 'user' } } }),
      ).toMatchObject({
        aclUserConfig: { usernameSecretRef: { name: 'redis', key: 'user' } },
      });
      expect(redisOf(ADDR)?.aclUserConfig.usernameSecretRef).toBeUndefined();
    },
  );

  proves('vmcp.auth-server.redis.addr', 'requires host:port unless Sentinels are given', () => {
    expect(redisOf(ADDR)?.addr).toBe('redis.internal:6379');
    expect(redisOf({ ...ADDR, addr: '[::1]:6379' })?.addr).toBe('[::1]:6379');
    expect(redisProblems({ aclUserConfig: LOGIN })).toEqual(['redis.addr: missing; or set sentinelConfig']);
    for (const addr of ['host', 'host:0', 'host:70000', ':6379', 'redis://u:canary@host:1', 'u:canary@host:1', '::1']) {
      const [problem, ...others] = redisProblems({ ...ADDR, addr });
      expect([problem, others]).toEqual(['redis.addr: expected host:port, without credentials', []]);
    }
  });

  proves('vmcp.auth-server.redis.addr-exclusive', 'refuses addr together with sentinelConfig', () => {
    expect(redisProblems({ ...ADDR, sentinelConfig: SENTINEL })).toEqual(['redis.addr: excludes sentinelConfig']);
  });

  proves('vmcp.auth-server.redis.cluster-mode', 'requires addr for clusterMode, which is false by default', () => {
    expect(redisOf(ADDR)?.clusterMode).toBe(false);
    expect(redisOf({ ...ADDR, clusterMode: true })?.clusterMode).toBe(true);
    const problems = redisProblems({ aclUserConfig: LOGIN, sentinelConfig: SENTINEL, clusterMode: true });
    expect(problems).toEqual(['redis.clusterMode: requires addr']);
    expect(redisProblems({ ...ADDR, clusterMode: 'yes' })).toHaveLength(1);
  });

  const timeouts = [
    ['vmcp.auth-server.redis.dial-timeout', 'dialTimeout', 5_000],
    ['vmcp.auth-server.redis.read-timeout', 'readTimeout', 3_000],
    ['vmcp.auth-server.redis.write-timeout', 'writeTimeout', 3_000],
  ] as const;
  for (const [id, field, byDefault] of timeouts) {
    proves(id, `reads ${field} as a Go duration, ${byDefault} ms by default`, () => {
      expect(redisOf(ADDR)?.[field]).toBe(byDefault);
      expect(redisOf({ ...ADDR, [field]: '1m0.5s' })?.[field]).toBe(60_500);
      for (const wrong of ['0s', '5', -1, '']) expect(redisProblems({ ...ADDR, [field]: wrong })).toHaveLength(1);
    });
  }

  const sentinel = (config: object) => redisOf({ aclUserConfig: LOGIN, sentinelConfig: config })?.sentinelConfig;
  const sentinelProblems = (config: object) => redisProblems({ aclUserConfig: LOGIN, sentinelConfig: config });

  proves('vmcp.auth-server.redis.sentinel-master-name', 'requires masterName', () => {
    expect(sentinelProblems({ sentinelAddrs: ['a:1'] })).toEqual([
      expect.stringMatching(/^redis\.sentinelConfig\.masterName: /),
    ]);
    expect(sentinelProblems({ ...SENTINEL, masterName: '' })).toHaveLength(1);
  });

  proves('vmcp.auth-server.redis.sentinel-db', 'reads db, 0 by default', () => {
    expect(sentinel(SENTINEL)?.db).toBe(0);
    expect(sentinel({ ...SENTINEL, db: 7 })?.db).toBe(7);
    for (const db of [-1, 1.5, 2 ** 31]) expect(sentinelProblems({ ...SENTINEL, db })).toHaveLength(1);
  });

  proves('vmcp.auth-server.redis.sentinel-addrs', 'takes addresses of Sentinels or a service', () => {
    expect(sentinel(SENTINEL)?.sentinelAddrs).toEqual(SENTINEL.sentinelAddrs);
    const both = { ...SENTINEL, sentinelService: { name: 'sentinel' } };
    for (const wrong of [both, { masterName: 'main' }]) {
      expect(sentinelProblems(wrong)).toEqual([
        'redis.sentinelConfig: expected sentinelAddrs or sentinelService, and not both',
      ]);
    }
    expect(sentinelProblems({ masterName: 'main', sentinelAddrs: ['host'] })).toHaveLength(1);
    expect(sentinelProblems({ masterName: 'main', sentinelAddrs: [] })).toHaveLength(1);
  });

  proves(
    ['vmcp.auth-server.redis.sentinel-service-name', 'vmcp.auth-server.redis.sentinel-service-port'],
    'requires the name of a sentinelService; its port is 26379 by default',
    () => {
      const service = (given: object) => sentinel({ masterName: 'main', sentinelService: given })?.sentinelService;
      expect(service({ name: 'sentinel' })).toEqual({ name: 'sentinel', port: 26_379 });
      expect(service({ name: 'sentinel', namespace: 'data', port: 1 })).toEqual({
        name: 'sentinel',
        namespace: 'data',
        port: 1,
      });
      for (const wrong of [{}, { name: '' }, { name: 'a.b' }, { name: 'a', port: 0 }, { name: 'a', namespace: 'B' }]) {
        expect(sentinelProblems({ masterName: 'main', sentinelService: wrong })).toHaveLength(1);
      }
    },
  );

  proves('vmcp.auth-server.redis.sentinel-tls-only', 'refuses sentinelTls without sentinelConfig', () => {
    expect(redisProblems({ ...ADDR, sentinelTls: {} })).toEqual(['redis.sentinelTls: requires sentinelConfig']);
    const tls = redisOf({ aclUserConfig: LOGIN, sentinelConfig: SENTINEL, sentinelTls: {} })?.sentinelTls;
    expect(tls).toEqual({ insecureSkipVerify: false });
  });

  it('refuses unknown fields everywhere', () => {
    expect(problemsOf({ kind: 'redis' })).toHaveLength(1);
    expect(redisProblems({ ...ADDR, address: 'a:1' })).toHaveLength(1);
    expect(redisProblems({ ...ADDR, tls: { caCert: 'text' } })).toHaveLength(1);
    expect(sentinelProblems({ ...SENTINEL, password: 'text' })).toHaveLength(1);
  });
});
