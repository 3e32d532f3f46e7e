import { isIP } from 'node:net';
import { type BackOff, backOffMs, type Core, createOutageLog, GatewayFault, type Secret, within } from '@toolmgr/core';
import type { Redis, RedisOptions } from 'ioredis';
import { type RedisConfig, redisAddress } from './config.ts';

/** Commands sent and not answered; more fail at once, so that a slow server costs no memory without end. */
const MAX_IN_FLIGHT = 10_000;
const RETRY: BackOff = { firstMs: 50, maxMs: 2_000 };
/** Answers that no repetition changes: what the configuration says is wrong. */
const REFUSALS = /^(WRONGPASS|NOAUTH|NOPERM|ERR invalid password|ERR AUTH|ERR DB index)/;

const REFUSED = 'refused what it was told; look at TOOLMGR_SESSION_REDIS_PASSWORD and db';

/** Commands that the connection adds to the client's own: scripts by name. */
export type Scripts = NonNullable<RedisOptions['scripts']>;

/** One connection to one server, made anew as long as it is wanted. */
export interface Connection {
  /** Resolves when the server answered, or did not within its time; rejects only when it refused what it was told. */
  open(password?: Secret): Promise<void>;
  /**
   * Sends commands, which are never sent twice.
   * @throws GatewayFault STORE_UNAVAILABLE at once when the server is away, after `commandTimeoutMs` when it is silent
   */
  run<T>(commands: (redis: Redis) => Promise<T>): Promise<T>;
  close(): void;
}

/** Makes a connection; nothing is opened before `open`. */
export function createConnection(core: Pick<Core, 'log' | 'now'>, config: RedisConfig, scripts: Scripts): Connection {
  const { address } = config;
  let redis: Redis | undefined;
  let inFlight = 0;
  let isClosed = false;
  const outage = createOutageLog(core, {
    began: 'the redis store is away',
    over: 'the redis store is back',
    fields: { address },
    counted: 'closed',
  });
  let cause: Error | undefined;
  let refused: Error | undefined;

  const unavailable = (why: string, from = cause) =>
    new GatewayFault('STORE_UNAVAILABLE', `stores/redis: ${address} ${why}`, from === undefined ? {} : { cause: from });

  const watch = (client: Redis): void => {
    client.on('connect', () => {
      refused = undefined; // asked anew on every connection
    });
    client.on('error', (error: Error) => {
      cause = bare(error);
      // An unknown database does not end the connection: the client would go on in database 0, among others' keys.
      if (REFUSALS.test(cause.message)) refused = cause;
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
      // The connection is tried again after this: the start of a gateway does not wait for a server that is away.
      await within(
        config.connectTimeoutMs,
        undefined,
        client.connect().catch(() => {}),
      );
      if (refused === undefined) return;
      client.disconnect();
      throw unavailable(REFUSED, refused);
    },
    async run(commands) {
      if (isClosed) throw unavailable('is not used any more: the store is closed');
      if (redis?.status !== 'ready') throw unavailable('is away');
      if (refused !== undefined) throw unavailable(REFUSED, refused);
      if (inFlight >= MAX_IN_FLIGHT) throw unavailable(`has ${MAX_IN_FLIGHT} commands to answer already`);
      inFlight += 1;
      try {
        return await commands(redis);
      } catch (failed) {
        throw unavailable('did not do what it was asked', failed instanceof Error ? bare(failed) : undefined);
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
    protocol: 2, // all that is used, and proxies know it
    disableClientInfo: true,
    connectionName: 'toolmgr',
    connectTimeout: connectTimeoutMs,
    // One timer per connection, armed while commands wait: a hung server loses the connection, and later commands fail
    // at once until it answers again.
    socketTimeout: commandTimeoutMs,
    // Nothing waits for a server that is away, and nothing is sent twice: a lost answer may have taken tokens.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (times) => backOffMs(times, RETRY),
    reconnectOnError: (error) => error.message.startsWith('READONLY'), // the master moved
    ...(tls ? { tls: isIP(host) === 0 ? { servername: host } : {} } : {}),
  };
}

/** The client's errors carry the command with its arguments, the password among them: only the sentence stays. */
function bare(error: Error): Error {
  const code = (error as NodeJS.ErrnoException).code;
  return new Error(error.message === '' ? (code ?? error.name) : error.message);
}
