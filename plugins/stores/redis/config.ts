import { z } from 'zod';
import { redisAddress } from '../../shared/redis/redis-address.ts';

/** Keys and defaults of the contract's `sessionStorage` without `provider`; the keys after `keyPrefix` are extensions. */
export const redisConfig = z.strictObject({
  address: z
    .string()
    .min(1, 'expected an address that is not empty')
    // the message omits the text, which may contain a password
    .refine((text) => redisAddress(text) !== undefined, 'expected host:port, without scheme or credentials')
    .describe('host:port of the server; the password comes from TOOLMGR_SESSION_REDIS_PASSWORD'),
  db: z.int().min(0).max(2_147_483_647).default(0).describe('number of the database'),
  keyPrefix: z
    .string()
    .optional()
    .describe('prefix of every key; default `toolmgr:vmcp:session:` for values and `toolmgr:rl:` for buckets'),
  // extensions
  tls: z.boolean().default(false).describe('use TLS; the certificate must match the host (NODE_EXTRA_CA_CERTS)'),
  connectTimeoutMs: z.int().min(1).max(600_000).default(5_000).describe('timeout of opening a connection'),
  commandTimeoutMs: z
    .int()
    .min(1)
    .max(600_000)
    .default(3_000)
    .describe('timeout of a silent server: pending commands fail and the connection is opened again'),
});

/** The parsed configuration. */
export type RedisConfig = z.output<typeof redisConfig>;
