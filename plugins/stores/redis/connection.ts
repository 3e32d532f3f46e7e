import { isIP } from 'node:net';
import { type BackOff, backOffMs, type Core, createOutageLog, GatewayFault, type Secret, within } from '@toolmgr/core';
import type { Redis, RedisOptions } from 'ioredis';
import { type RedisConfig, redisAddress } from './config.ts';

/** Maximum pending commands; further ones fail at once, so that a slow server does not fill the memory. */
const MAX_IN_FLIGHT = 10_000;
const RETRY: BackOff = { firstMs: 50, maxMs: 2_000 };
/** Errors of a wrong configuration, for which a retry is useless. */
const PERMANENT_ERRORS = /^(WRONGPASS|NOAUTH|NOPERM|ERR invalid password|ERR AUTH|ERR DB index)/;

const REFUSED_TEXT = 'refused the login or the database; check TOOLMGR_SESSION_REDIS_PASSWORD and db';

/** Lua scripts by name, added to the client as commands. */
export type Scripts = NonNullable<RedisOptions['scripts']>;

/** A connection to one server, which reconnects until it is closed. */
export interface Connection {
  /** Resolves when connected or after the timeout; rejects only when the server refuses the configuration. */
  open(password?: Secret): Promise<void>;
  /**
   * Sends commands, which are never repeated.
   * @throws GatewayFault STORE_UNAVAILABLE at once without a connection, after `commandTimeoutMs` for a silent server
   */
  run<T>(commands: (redis: Redis) => Promise<T>): Promise<T>;
  close(): void;
}

/** Creates a connection; `open` connects. */
export function createConnection(core: Pick<Core, 'log' | 'now'>, config: RedisConfig, scripts: Scripts): Connection {
  const { address } = config;
  let redis: Redis | undefined;
  let inFlight = 0;
  let isClosed = false;
  const outage = createOutageLog(core, {
    began: 'the redis store is unavailable',
    over: 'the redis store is available again',
    fields: { address },
    counted: 'closed',
  });
  let cause: Error | undefined;
  let permanentError: Error | undefined;

  const unavailable = (why: string, from = cause) =>
    new GatewayFault('STORE_UNAVAILABLE', `stores/redis: ${address} ${why}`, from === undefined ? {} : { cause: from });

  const watch = (client: Redis): void => {
    client.on('connect', () => {
      permanentError = undefined; // checked again on every connection
    });
    client.on('error', (error: Error) => {
      cause = withoutCommand(error);
      // The client ignores an unknown database and would use database 0 with other keys.
      if (PERMANENT_ERRORS.test(cause.message)) permanentError = cause;
    });
    client.on('close', () => {
      if (!isClosed) outage.failed(cause ?? 'the connection was closed');
    });
    client.on('ready', () => {
      outage.over();
      cause = undefined;
    });
  };

  return {
    async open(password) {
      const { Redis } = await import('ioredis');
      const client = new Redis({
        ...optionsOf(config),
        scripts,
        ...(password === undefined ? {} : { password: password.reveal() }),
      });
      redis = client;
      watch(client);
      // Does not reject: the client reconnects in the background, and the gateway starts without its server.
      await within(
        config.connectTimeoutMs,
        undefined,
        client.connect().catch(() => {}),
      );
      if (permanentError === undefined) return;
      client.disconnect();
      throw unavailable(REFUSED_TEXT, permanentError);
    },
    async run(commands) {
      if (isClosed) throw unavailable('cannot be used: the store is closed');
      if (redis?.status !== 'ready') throw unavailable('is unavailable');
      if (permanentError !== undefined) throw unavailable(REFUSED_TEXT, permanentError);
      if (inFlight >= MAX_IN_FLIGHT) throw unavailable(`has ${MAX_IN_FLIGHT} pending commands already`);
      inFlight += 1;
      try {
        return await commands(redis);
      } catch (failed) {
        throw unavailable('did not execute the command', failed instanceof Error ? withoutCommand(failed) : undefined);
      } finally {
        inFlight -= 1;
      }
    },
    close() {
      isClosed = true;
      redis?.disconnect();
    },
  };
}

function optionsOf({ address, db, tls, connectTimeoutMs, commandTimeoutMs }: RedisConfig): RedisOptions {
  const { host, port } = redisAddress(address) ?? { host: address, port: 0 };
  return {
    host,
    port,
    db,
    lazyConnect: true,
    protocol: 2, // sufficient, and supported by proxies
    disableClientInfo: true,
    connectionName: 'toolmgr',
    connectTimeout: connectTimeoutMs,
    // One timer per connection while commands are pending: the connection to a hung server is closed, and commands fail
    // at once until it is open again.
    socketTimeout: commandTimeoutMs,
    // No queue and no repetition: a command with a lost response may have taken tokens.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (times) => backOffMs(times, RETRY),
    reconnectOnError: (error) => error.message.startsWith('READONLY'), // another server is the master now
    ...(tls ? { tls: isIP(host) === 0 ? { servername: host } : {} } : {}),
  };
}

/** Copies only the message: the client's errors have the command with its arguments, e.g. the password. */
function withoutCommand(error: Error): Error {
  const code = (error as NodeJS.ErrnoException).code;
  return new Error(error.message === '' ? (code ?? error.name) : error.message);
}
