import { isIP } from 'node:net';
import type { Core, Secret } from '@toolmgr/core';
import { redisAddress } from '../../shared/redis/redis-address.ts';
import { type Connection, clientOptions, createConnection, type Scripts } from '../../shared/redis/redis-connection.ts';
import type { RedisConfig } from './config.ts';

/** The connection of this store. `readPassword` is called when it opens. */
export function connectStore(
  core: Pick<Core, 'log' | 'now'>,
  { address, db, tls, connectTimeoutMs, commandTimeoutMs }: RedisConfig,
  scripts: Scripts,
  readPassword: () => Promise<Secret | undefined> = async () => undefined,
): Connection {
  const { host, port } = redisAddress(address) ?? { host: address, port: 0 };
  return createConnection(core, {
    owner: 'stores/redis',
    subject: 'the redis store',
    address,
    refused: 'refused the login or the database; check TOOLMGR_SESSION_REDIS_PASSWORD and db',
    connectTimeoutMs,
    async create({ Redis }) {
      const password = await readPassword();
      return new Redis({
        ...clientOptions(connectTimeoutMs, commandTimeoutMs),
        host,
        port,
        db,
        scripts,
        ...(tls ? { tls: isIP(host) === 0 ? { servername: host } : {} } : {}),
        ...(password === undefined ? {} : { password: password.reveal() }),
      });
    },
  });
}
