import {
  type ConnectionTarget,
  createRedisClient,
  type RedisServers,
  readLogin,
  serversText,
} from '@toolmgr/plugins/kit/redis';
import type { SecretSlots } from '@toolmgr/plugins/kit/secrets';
import type { RedisConfig } from './config.ts';
import { recordScripts } from './record-scripts.ts';

/** Place of the configuration, for messages. */
export const SETTING = 'authServerConfig.storage.redis';

/** The servers of the configuration: one server, the master that Sentinels name, or a Cluster. Reads secrets when it opens. */
export function redisTarget(slots: SecretSlots, config: RedisConfig): ConnectionTarget {
  const { addr, clusterMode, sentinelConfig, aclUserConfig, tls, sentinelTls } = config;
  const servers: RedisServers = { address: addr, clusterMode, sentinelConfig, aclUserConfig, tls, sentinelTls };
  const behaviour = {
    db: sentinelConfig?.db ?? 0,
    scripts: recordScripts,
    connectTimeoutMs: config.dialTimeout,
    // The answer of a single command has its own timer; a server that is silent for longer loses the connection.
    silenceMs: Math.max(config.readTimeout, config.writeTimeout),
    answerMs: config.readTimeout,
    repeats: true,
  };
  return {
    owner: 'auth-server',
    subject: 'the Redis of the authorization server',
    address: serversText(servers),
    refused: `refused the login or the database; check ${SETTING}.aclUserConfig and db`,
    connectTimeoutMs: config.dialTimeout,
    create: async (library) => createRedisClient(library, servers, await readLogin(slots, servers, SETTING), behaviour),
  };
}
