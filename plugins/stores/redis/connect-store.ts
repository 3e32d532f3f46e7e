import { type Core, createOutageLog } from '@toolmgr/core';
import {
  type Connection,
  createConnection,
  createRedisClient,
  readLogin,
  type Scripts,
  serversText,
  warnOfUnverified,
} from '@toolmgr/plugins/kit/redis';
import { readOptionalSecret } from '@toolmgr/plugins/kit/secrets';
import { databaseOf, type RedisConfig, serversOf } from './config.ts';

const SETTING = 'sessionStorage';
/** Source: vmcp spec §2 `spec.config.sessionStorage`. */
const PASSWORD = 'TOOLMGR_SESSION_REDIS_PASSWORD';

/** The connection of this store. Secrets are read when it opens. */
export function connectStore(
  core: Pick<Core, 'log' | 'now' | 'slots'>,
  config: RedisConfig,
  scripts: Scripts,
): Connection {
  const servers = serversOf(config);
  const { connectTimeoutMs, commandTimeoutMs, aclUserConfig } = config;
  const login = aclUserConfig === undefined ? PASSWORD : `${SETTING}.aclUserConfig`;
  const address = serversText(servers);
  warnOfUnverified(core.log, servers, SETTING);
  const connection = createConnection(core, {
    owner: 'stores/redis',
    subject: 'the redis store',
    address,
    refused: `refused the login or the database; check ${login} and db`,
    connectTimeoutMs,
    async create(library) {
      const named = await readLogin(core.slots, servers, SETTING);
      const password = aclUserConfig === undefined ? await readOptionalSecret(core.slots, PASSWORD) : undefined;
      return createRedisClient(
        library,
        servers,
        { ...named, ...(password === undefined ? {} : { password: password.reveal() }) },
        {
          db: databaseOf(config),
          scripts,
          connectTimeoutMs,
          silenceMs: commandTimeoutMs,
          answerMs: commandTimeoutMs,
          repeats: false, // a second `take` would take two tokens
        },
      );
    },
  });
  return servers.clusterMode ? loggingFailures(core, connection, address) : connection;
}

/** A client of a Cluster stays connected when the one server with the keys is away: then only failing commands show it. */
function loggingFailures(core: Pick<Core, 'log' | 'now'>, connection: Connection, address: string): Connection {
  const outage = createOutageLog(core, {
    began: 'the Redis Cluster does not serve the keys of the redis store',
    over: 'the Redis Cluster serves the keys of the redis store again',
    fields: { address },
  });
  return {
    ...connection,
    async run(commands) {
      try {
        const answer = await connection.run(commands);
        if (outage.isOn) outage.over();
        return answer;
      } catch (cause) {
        outage.failed(cause);
        throw cause;
      }
    },
  };
}
