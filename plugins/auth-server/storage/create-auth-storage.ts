import { type Core, createOutageLog, GatewayFault } from '@toolmgr/core';
import { createConnection, openSubscription, warnOfUnverified } from '@toolmgr/plugins/kit/redis';
import { readSecretBytes } from '@toolmgr/plugins/kit/secrets';
import type { RedisConfig, StorageConfig } from './config.ts';
import { createKeyRing } from './key-ring.ts';
import { createMemoryStorage } from './memory-storage.ts';
import { createRedisOperations } from './redis-operations.ts';
import { channelOf, createRedisStorage, keyPrefixOf } from './redis-storage.ts';
import { redisTarget, SETTING } from './redis-target.ts';
import { createSealedStorage } from './sealed-storage.ts';
import type { AuthStorage } from './storage.ts';

/** What the storage needs of a gateway. */
export type StorageCore = Pick<Core, 'log' | 'now' | 'server' | 'slots'>;

/**
 * Opens the configured storage: reads its secrets and connects. A Redis that is away delays the start by `dialTimeout` and is
 * connected to later.
 * @throws GatewayFault SECRET_MISSING, PLAN_INVALID for a bad secret, STORE_UNAVAILABLE when Redis refuses the login
 */
export async function createAuthStorage(core: StorageCore, config: StorageConfig): Promise<AuthStorage> {
  if (config.type === 'memory') return createMemoryStorage(core.now);
  if (config.redis === undefined) throw new GatewayFault('PLAN_INVALID', 'authServerConfig.storage.redis: missing');
  const ring = await readKeyRing(core, config);
  warnOf(core, config.redis, ring !== undefined);
  const target = redisTarget(core.slots, config.redis);
  const connection = createConnection(core, target);
  const { writeTimeout, readTimeout } = config.redis;
  const operations = createRedisOperations(connection, writeTimeout, readTimeout, outageOf(core, config.redis));
  await connection.open();
  const prefix = config.redis.keyPrefix ?? keyPrefixOf(core.server.name);
  const storage = createRedisStorage(operations, prefix, openSubscription(core.log, target, channelOf(prefix)));
  const { readUnencrypted } = config;
  return ring === undefined ? storage : createSealedStorage(storage, { ring, prefix, readUnencrypted, core });
}

/** A client of a Cluster stays connected when the one server with the keys is away: then only failing operations show it. */
function outageOf(core: StorageCore, { clusterMode, addr }: RedisConfig) {
  if (!clusterMode) return undefined;
  return createOutageLog(core, {
    began: 'the Redis Cluster does not serve the keys of the authorization server',
    over: 'the Redis Cluster serves the keys of the authorization server again',
    fields: { address: addr ?? '' },
  });
}

async function readKeyRing({ slots }: StorageCore, { encryptionKeySecretRefs: references }: StorageConfig) {
  if (references.length === 0) return undefined;
  const where = 'authServerConfig.storage.encryptionKeySecretRefs';
  const secrets = references.map((reference, index) => readSecretBytes(slots, reference, `${where}[${index}]`));
  return createKeyRing(await Promise.all(secrets), where);
}

function warnOf({ log }: StorageCore, config: RedisConfig, isSealed: boolean): void {
  if (!isSealed) {
    log.warn(
      'the authorization server stores tokens of upstream providers in Redis without encryption; set storage.encryptionKeySecretRefs',
    );
  }
  warnOfUnverified(log, config, SETTING);
}
