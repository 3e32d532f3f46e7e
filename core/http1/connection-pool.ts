import { Connection, type ConnectionOwner } from './connection.ts';
import {
  type HttpClient,
  type HttpClientOptions,
  type HttpClientStats,
  NOT_SENT,
  type OutgoingRequest,
  type RequestControl,
  type ResponseReader,
} from './http-client.ts';
import type { Origin } from './origin.ts';
import { type ProxyTarget, requestHead } from './request-head.ts';

const SWEEP_MS = 1_000;
/** The timeout of the server runs while its response travels. */
const CLOSING_MARGIN_MS = 1_000;

/**
 * The connections to one origin. Uses the connection that was used last, and opens another one when none is free; the
 * callers limit their number.
 */
export class ConnectionPool implements HttpClient, ConnectionOwner {
  readonly origin: Origin;
  readonly connectTimeoutMs: number;
  readonly keptHeaders: ReadonlySet<string> | undefined;
  session: Buffer | undefined;
  readonly #keepAliveMs: number;
  readonly #forProxy: ProxyTarget | undefined;
  readonly #all = new Set<Connection>();
  /** A stack that is never shortened, for the reason given at `InFlightMap`. */
  readonly #idle: (Connection | undefined)[] = [];
  #idleCount = 0;
  #sweeping: NodeJS.Timeout | undefined;
  #closed = false;
  #whenEmpty: (() => void) | undefined;

  constructor(origin: Origin, { connectTimeoutMs, keepAliveMs, keptHeaders }: HttpClientOptions) {
    this.origin = origin;
    const { proxy, isTls, host } = origin;
    if (proxy !== undefined && !isTls) {
      this.#forProxy = { origin: `http://${host}`, authorization: proxy.authorization };
    }
    this.connectTimeoutMs = connectTimeoutMs;
    this.keptHeaders = keptHeaders;
    this.#keepAliveMs = keepAliveMs;
  }

  /** Sends one request. All errors are reported to the reader. */
  send(request: OutgoingRequest, reader: ResponseReader): RequestControl {
    if (this.#closed) return refused(reader, new Error('the connections to this origin are closed'));
    let head: string;
    try {
      head = requestHead(request, this.origin.host, this.#forProxy);
    } catch (cause) {
      return refused(reader, cause as TypeError);
    }
    return this.#take().send(head, request.body, reader);
  }

  stats(): HttpClientStats {
    return { connections: this.#all.size, idle: this.#idleCount };
  }

  /** Takes nothing more; resolves when what is under way has ended. */
  close(): Promise<void> {
    this.#closed = true;
    this.#closeIdle(Number.POSITIVE_INFINITY);
    if (this.#all.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#whenEmpty = resolve;
    });
  }

  /** Accepts no new requests and aborts the active ones. */
  async destroy(): Promise<void> {
    this.#closed = true;
    const reason = new Error('the connections to this origin are closed');
    for (const connection of [...this.#all]) connection.cut(reason);
  }

  free(connection: Connection): void {
    if (this.#closed) return connection.close();
    const toldMs = connection.idleMs === undefined ? this.#keepAliveMs : connection.idleMs - CLOSING_MARGIN_MS;
    const keepMs = Math.min(toldMs, this.#keepAliveMs);
    if (keepMs <= 0) return connection.close();
    connection.idleUntilMs = performance.now() + keepMs;
    this.#idle[this.#idleCount++] = connection;
    if (this.#sweeping !== undefined) return;
    this.#sweeping = setInterval(() => this.#sweep(), SWEEP_MS);
    this.#sweeping.unref();
  }

  gone(connection: Connection): void {
    this.#all.delete(connection);
    if (this.#all.size === 0) {
      this.#stopSweeping();
      this.#whenEmpty?.();
    }
  }

  #take(): Connection {
    const nowMs = performance.now();
    while (this.#idleCount > 0) {
      const connection = this.#idle[--this.#idleCount] as Connection;
      this.#idle[this.#idleCount] = undefined;
      if (connection.usable && connection.idleUntilMs > nowMs) return connection;
      connection.close();
    }
    const fresh = new Connection(this);
    this.#all.add(fresh);
    return fresh;
  }

  #sweep(): void {
    this.#closeIdle(performance.now());
    if (this.#idleCount === 0) this.#stopSweeping();
  }

  #stopSweeping(): void {
    clearInterval(this.#sweeping);
    this.#sweeping = undefined;
  }

  /** Closes idle connections that expired before `nowMs`. */
  #closeIdle(nowMs: number): void {
    let kept = 0;
    for (let n = 0; n < this.#idleCount; n++) {
      const connection = this.#idle[n] as Connection;
      if (connection.usable && connection.idleUntilMs > nowMs) this.#idle[kept++] = connection;
      else connection.close();
    }
    this.#idle.fill(undefined, kept, this.#idleCount);
    this.#idleCount = kept;
  }
}

function refused(reader: ResponseReader, error: Error): RequestControl {
  reader.failed(error, false);
  return NOT_SENT;
}
