import {
  aclUserConfig,
  conflictsOf,
  type RedisServers,
  redisAddress,
  sentinelConfig,
  type TlsConfig,
  tlsConfig,
} from '@toolmgr/plugins/kit/redis';
import { z } from 'zod';

const redisKeys = z.strictObject({
  address: z
    .string()
    .min(1, 'expected an address that is not empty')
    // the message omits the text, which may contain a password
    .refine((text) => redisAddress(text) !== undefined, 'expected host:port, without scheme or credentials')
    .optional()
    .describe(
      'host:port of the server, or of one server of the Cluster; the password comes from TOOLMGR_SESSION_REDIS_PASSWORD',
    ),
  db: z.int().min(0).max(2_147_483_647).default(0).describe('number of the database'),
  keyPrefix: z
    .string()
    .optional()
    .describe('prefix of every key; default `toolmgr:vmcp:session:` for values and `toolmgr:rl:` for buckets'),
  // extensions
  clusterMode: z.boolean().default(false).describe('address is a server of a Redis Cluster'),
  sentinelConfig: sentinelConfig.optional().describe('Redis Sentinel, instead of address'),
  aclUserConfig: aclUserConfig.optional().describe('login at Redis, instead of TOOLMGR_SESSION_REDIS_PASSWORD'),
  tls: z
    .union([z.boolean(), tlsConfig])
    .default(false)
    .describe('TLS to the server, the master or the Cluster; the certificate must match the host'),
  sentinelTls: tlsConfig.optional().describe('TLS to the Sentinels'),
  connectTimeoutMs: z.int().min(1).max(600_000).default(5_000).describe('timeout of opening a connection'),
  commandTimeoutMs: z
    .int()
    .min(1)
    .max(600_000)
    .default(3_000)
    .describe('timeout of a silent server: pending commands fail and the connection is opened again'),
});

/** A hash tag without text before any other: each key would have a slot of its own. */
const EMPTY_TAG = /^[^{]*\{\}/;

/**
 * Keys and defaults of the contract's `sessionStorage` without `provider`; the keys after `keyPrefix` are extensions, with the
 * names of `authServerConfig.storage.redis`.
 */
export const redisConfig = redisKeys.superRefine((config, context) => {
  const { db, clusterMode, keyPrefix = '', sentinelConfig } = config;
  const own: [isWrong: boolean, path: string, message: string][] = [
    [clusterMode && db !== 0, 'db', 'a Redis Cluster has only the database 0'],
    [clusterMode && EMPTY_TAG.test(keyPrefix), 'keyPrefix', 'a Redis Cluster needs all keys in one slot; omit {}'],
    [db !== 0 && ![0, db].includes(sentinelConfig?.db ?? 0), 'db', 'differs from sentinelConfig.db; set one of them'],
  ];
  const wrong = own.flatMap(([isWrong, path, message]) => (isWrong ? [[path, message] as const] : []));
  for (const [path, message] of [...conflictsOf(config, 'address'), ...wrong]) {
    context.addIssue({ code: 'custom', path: [path], message });
  }
});

/** The parsed configuration. */
export type RedisConfig = z.output<typeof redisConfig>;

/** The servers of a configuration. */
export function serversOf({
  address,
  clusterMode,
  sentinelConfig,
  aclUserConfig,
  ...config
}: RedisConfig): RedisServers {
  const { sentinelTls } = config;
  return { address, clusterMode, sentinelConfig, aclUserConfig, tls: tlsOf(config.tls), sentinelTls };
}

/** The database: `db`, or that of `sentinelConfig`. */
export function databaseOf({ db, sentinelConfig }: RedisConfig): number {
  return db === 0 ? (sentinelConfig?.db ?? 0) : db;
}

function tlsOf(tls: boolean | TlsConfig): TlsConfig | undefined {
  if (typeof tls === 'object') return tls;
  return tls ? { insecureSkipVerify: false } : undefined;
}
