/** Connections to Redis: settings, TLS, sentinels and clusters, subscriptions. */
export { redisAddress } from './redis-address.ts';
export {
  type Connection,
  type ConnectionTarget,
  createConnection,
  type RedisClient,
  type Scripts,
} from './redis-connection.ts';
export {
  aclUserConfig,
  conflictsOf,
  hostAndPort,
  type RedisServers,
  sentinelConfig,
  type TlsConfig,
  tlsConfig,
} from './redis-options.ts';
export { createRedisClient, readLogin, serversText, warnOfUnverified } from './redis-servers.ts';
export { openSubscription, type RedisSubscription } from './redis-subscription.ts';
