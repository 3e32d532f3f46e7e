import { backOffMs, type Core, createOutageLog, GatewayFault, within } from '@toolmgr/core';
import type { CommonRedisOptions, Redis } from 'ioredis';

/** Maximum pending commands; further ones fail at once, so that a slow server does not fill the memory. */
const MAX_IN_FLIGHT = 10_000;
const RETRY = { firstMs: 50, maxMs: 2_000 };
/** Errors of a wrong configuration, for which a retry is useless. */
const PERMANENT_ERRORS = /^(WRONGPASS|NOAUTH|NOPERM|ERR invalid password|ERR AUTH|ERR DB index)/;

/** Lua scripts by name, added to the client as commands. */
export type Scripts = NonNullable<CommonRedisOptions['scripts']>;

/** The library, and a client of it. A client of a Cluster has the same commands, and is cast to this type. */
export type RedisLibrary = Pick<typeof import('ioredis'), 'Redis' | 'Cluster'>;
/** A client of the library `ioredis`. */
export type RedisClient = Redis;

/** What a connection leads to. */
export interface ConnectionTarget {
  /** Start of error messages, e.g. `stores/redis`. */
  readonly owner: string;
  /** Name in log lines, e.g. `the redis store`. */
  readonly subject: string;
  /** For logs and errors: an address without credentials. */
  readonly address: string;
  /** What to do when the server refuses the login or the database. */
  readonly refused: string;
  /** Time that a start waits for the first connection. */
  readonly connectTimeoutMs: number;
  /** Makes a client that does not connect yet. */
  create(library: RedisLibrary): RedisClient | Promise<RedisClient>;
}

/** A connection to one server, or to the servers of one database, which reconnects until it is closed. */
export interface Connection {
  /** Resolves when connected or after the timeout; rejects only when the server refuses the configuration. */
  open(): Promise<void>;
  /**
   * Sends commands, which are never repeated.
   * @throws GatewayFault STORE_UNAVAILABLE at once without a connection, or when a command fails
   */
  run<T>(commands: (redis: RedisClient) => Promise<T>): Promise<T>;
  close(): void;
}

/** Creates a connection; `open` connects. */
export function createConnection(core: Pick<Core, 'log' | 'now'>, target: ConnectionTarget): Connection {
  const { address, owner, subject, refused } = target;
  let redis: RedisClient | undefined;
  let inFlight = 0;
  let isClosed = false;
  const outage = createOutageLog(core, {
    began: `${subject} is unavailable`,
    over: `${subject} is available again`,
    fields: { address },
    counted: 'closed',
  });
  let cause: Error | undefined;
  let permanentError: Error | undefined;

  const unavailable = (why: string, from = cause) =>
    new GatewayFault('STORE_UNAVAILABLE', `${owner}: ${address} ${why}`, from === undefined ? {} : { cause: from });

  const noteError = (error: Error): void => {
    cause = withoutCommand(error);
    // The client ignores an unknown database and would use database 0 with other keys.
    if (PERMANENT_ERRORS.test(cause.message)) permanentError = cause;
  };

  const watch = (client: RedisClient): void => {
    client.on('connect', () => {
      permanentError = undefined; // checked again on every connection
    });
    client.on('error', noteError);
    client.on('node error', noteError); // of one server of a Cluster
    client.on('close', () => {
      if (!isClosed) outage.failed(cause ?? 'the connection was closed');
    });
    client.on('ready', () => {
      outage.over();
      cause = undefined;
    });
  };

  return {
    async open() {
      const client = await target.create(await import('ioredis'));
      redis = client;
      watch(client);
      // Does not reject: the client reconnects in the background, and the gateway starts without its server.
      await within(
        target.connectTimeoutMs,
        undefined,
        client.connect().catch(() => {}),
      );
      if (permanentError === undefined) return;
      client.disconnect();
      throw unavailable(refused, permanentError);
    },
    async run(commands) {
      if (isClosed) throw unavailable('cannot be used: the store is closed');
      if (redis?.status !== 'ready') throw unavailable('is unavailable');
      if (permanentError !== undefined) throw unavailable(refused, permanentError);
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

/**
 * Options of every client. `silenceMs`: a server that is silent for so long while commands are pending loses its connection;
 * the commands fail, and others fail at once until the connection is open again. One timer per connection.
 */
export function clientOptions(connectTimeoutMs: number, silenceMs: number) {
  return {
    lazyConnect: true,
    protocol: 2, // sufficient, and supported by proxies
    disableClientInfo: true,
    connectionName: 'toolmgr',
    connectTimeout: connectTimeoutMs,
    socketTimeout: silenceMs,
    // No queue and no repetition: a command with a lost response may have been executed.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: reconnectDelayMs,
    reconnectOnError: (error: Error) => error.message.startsWith('READONLY'), // another server is the master now
  } as const satisfies CommonRedisOptions;
}

/** Milliseconds before the next attempt to connect. */
export function reconnectDelayMs(attempt: number): number {
  return backOffMs(attempt, RETRY);
}

/** Copies only the message: the client's errors have the command with its arguments, e.g. the password. */
function withoutCommand(error: Error): Error {
  const code = (error as NodeJS.ErrnoException).code;
  return new Error(error.message === '' ? (code ?? error.name) : error.message);
}
