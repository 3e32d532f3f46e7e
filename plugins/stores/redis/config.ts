import { z } from 'zod';

/** Where a server listens. */
export interface RedisAddress {
  readonly host: string;
  readonly port: number;
}

const DEFAULT_PORT = 6379;
const ADDRESS = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:/@[\]]+))(?::(\d{1,5}))?$/;

/** `host`, `host:port` or `[ipv6]:port`; `undefined` for anything else, a URL with credentials in it first of all. */
export function redisAddress(text: string): RedisAddress | undefined {
  const [, ipv6, name, digits] = ADDRESS.exec(text) ?? [];
  const host = ipv6 ?? name;
  const port = digits === undefined ? DEFAULT_PORT : Number(digits);
  return host === undefined || port < 1 || port > 65_535 ? undefined : { host, port };
}

/** Keys and defaults of the contract's `sessionStorage`, `provider` aside; below the line what is ours. */
export const redisConfig = z.strictObject({
  address: z
    .string()
    .min(1, 'expected an address that is not empty')
    // the given text stays out of the sentence: it may hold a password
    .refine((text) => redisAddress(text) !== undefined, 'expected host:port, without scheme or credentials')
    .describe('host:port of the server; the password comes from TOOLMGR_SESSION_REDIS_PASSWORD'),
  db: z.int().min(0).max(2_147_483_647).default(0).describe('number of the database'),
  keyPrefix: z
    .string()
    .optional()
    .describe('begins every key; default `toolmgr:vmcp:session:` for values and `toolmgr:rl:` for buckets'),
  // ours
  tls: z.boolean().default(false).describe('speaks TLS; the certificate must fit the host (NODE_EXTRA_CA_CERTS)'),
  connectTimeoutMs: z.int().min(1).max(600_000).default(5_000).describe('time for a connection to open'),
  commandTimeoutMs: z
    .int()
    .min(1)
    .max(600_000)
    .default(3_000)
    .describe('silence of the server while commands wait, after which they fail and the connection is made anew'),
});

/** What the plugin was told. */
export type RedisConfig = z.output<typeof redisConfig>;
