import { isIP } from 'node:net';
import { type Dispatcher, Pool, ProxyAgent } from 'undici';
import { guardedLookup } from './allowed-addresses.ts';
import { decodingReader } from './decoded-body.ts';
import { ProxyRefusal } from './dial.ts';
import {
  type HttpClient,
  type HttpClientOptions,
  type HttpClientStats,
  NOT_SENT,
  type OutgoingRequest,
  type RequestControl,
  type ResponseHead,
  type ResponseReader,
} from './http-client.ts';
import type { Origin } from './origin.ts';
import { checkRequest } from './request-head.ts';
import { MalformedResponse } from './response-head.ts';

/** As the core's own client has it. */
const MAX_HEAD_BYTES = 32_768;
const MAX_INTERIM = 16;
const CLOSING_MARGIN_MS = 1_000;

/** A client of one origin over undici's pool. Only what asks for undici loads this file. */
export function createUndiciClient(origin: Origin, options: HttpClientOptions): HttpClient {
  return new UndiciClient(origin, options);
}

class UndiciClient implements HttpClient {
  readonly #origin: Origin;
  readonly #url: string;
  readonly #keptHeaders: ReadonlySet<string>;
  readonly #dispatcher: Dispatcher;
  /** Pools that were made; a proxy's agent makes its own on the first request. */
  readonly #pools: Pool[] = [];
  #closed = false;

  constructor(origin: Origin, options: HttpClientOptions) {
    this.#origin = origin;
    this.#url = `${origin.isTls ? 'https' : 'http'}://${origin.host}`;
    this.#keptHeaders = options.keptHeaders ?? new Set();
    this.#dispatcher = this.#dispatcherFor(origin, options);
  }

  send(request: OutgoingRequest, reader: ResponseReader): RequestControl {
    if (this.#closed) {
      reader.failed(closed(), false);
      return NOT_SENT;
    }
    const exchange = new Exchange(reader, this.#keptHeaders, this.#origin.proxy?.label);
    try {
      checkRequest(request);
      const { method, path, headers, body } = request;
      this.#dispatcher.dispatch(
        { origin: this.#url, method, path, headers: { ...headers }, body: body ?? null },
        exchange,
      );
    } catch (cause) {
      exchange.fail(cause as Error);
    }
    return exchange;
  }

  stats(): HttpClientStats {
    let [connections, idle] = [0, 0];
    for (const { stats } of this.#pools) {
      connections += stats.connected;
      idle += stats.free;
    }
    return { connections, idle };
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#dispatcher.close();
  }

  async destroy(): Promise<void> {
    this.#closed = true;
    await this.#dispatcher.destroy(closed());
  }

  #dispatcherFor({ isTls, hostname, ca, identity, addresses, proxy }: Origin, options: HttpClientOptions): Dispatcher {
    const tls = {
      timeout: options.connectTimeoutMs,
      ...(isIP(hostname) === 0 && isTls && { servername: hostname }),
      ...(ca !== undefined && { ca }),
      ...identity,
    };
    const poolOptions: Pool.Options = {
      allowH2: false,
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: MAX_HEAD_BYTES,
      keepAliveTimeout: options.keepAliveMs,
      keepAliveMaxTimeout: options.keepAliveMs,
      keepAliveTimeoutThreshold: CLOSING_MARGIN_MS,
    };
    const poolTo = (url: string | URL, more: object): Pool => {
      const pool = new Pool(url, { ...poolOptions, ...more });
      this.#pools.push(pool);
      return pool;
    };
    if (proxy === undefined) {
      const guard = addresses === undefined ? {} : { lookup: guardedLookup(addresses) };
      return poolTo(this.#url, { connect: { ...tls, ...guard } });
    }
    return new ProxyAgent({
      uri: proxy.url,
      requestTls: tls,
      proxyTls: { timeout: options.connectTimeoutMs },
      proxyTunnel: isTls,
      factory: (url, given) => poolTo(url, given as object),
      // for CONNECT: a proxy that never answers it
      clientFactory: (url, given) => new Pool(url, { ...given, headersTimeout: options.connectTimeoutMs }),
    });
  }
}

/** One request between undici and its reader. */
class Exchange implements Dispatcher.DispatchHandler, RequestControl {
  #reader: ResponseReader;
  readonly #keptHeaders: ReadonlySet<string>;
  readonly #proxy: string | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #interim = 0;
  #isAnswered = false;
  #isOver = false;

  constructor(reader: ResponseReader, keptHeaders: ReadonlySet<string>, proxy: string | undefined) {
    this.#reader = reader;
    this.#keptHeaders = keptHeaders;
    this.#proxy = proxy;
  }

  abort(reason: Error): void {
    if (this.#isOver) return;
    this.fail(reason);
    this.#controller?.abort(reason);
  }

  pause(): void {
    if (!this.#isOver) this.#controller?.pause();
  }

  resume(): void {
    if (!this.#isOver) this.#controller?.resume();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#isOver) return controller.abort(new Error('aborted before it was sent'));
    this.#controller = controller;
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Headers): void {
    if (this.#isOver) return;
    if (status < 200) {
      if (++this.#interim > MAX_INTERIM) this.abort(new MalformedResponse('too many interim responses'));
      return;
    }
    this.#isAnswered = true;
    const head = new UndiciHead(status, headers, this.#keptHeaders);
    this.#guarded(() => {
      this.#reader = decodingReader(head, this.#reader);
      this.#reader.answered(this, head);
    });
  }

  onResponseData(_: Dispatcher.DispatchController, bytes: Buffer): void {
    if (!this.#isOver) this.#guarded(() => this.#reader.received(this, bytes));
  }

  onResponseEnd(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#reader.ended();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.fail(this.#plain(error));
  }

  fail(error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#reader.failed(error, this.#controller !== undefined);
  }

  /** A reader that throws ends its request. */
  #guarded(run: () => void): void {
    try {
      run();
    } catch (cause) {
      this.abort(cause instanceof Error ? cause : new Error(String(cause)));
    }
  }

  /** An error as the core's own client reports it. */
  #plain(error: Error): Error {
    const code = codeOf(error);
    const proxy = this.#controller === undefined ? this.#proxy : undefined;
    if (proxy !== undefined) {
      const status = /^Proxy response \((\d+)\)/.exec(error.message)?.[1];
      const isAway = code.startsWith('E') && !code.startsWith('ERR_');
      if (status !== undefined) return new ProxyRefusal(`the proxy ${proxy} responded to CONNECT with ${status}`);
      if (isAway) return new ProxyRefusal(`the proxy ${proxy} cannot be reached (${code})`, { cause: error });
    }
    if (error.name === 'HTTPParserError' && code !== TRUNCATED) return malformed(error);
    if (code === LENGTH_MISMATCH) return this.#isAnswered ? reset(error) : malformed(error);
    return PLAIN[code]?.(error) ?? error;
  }
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

class UndiciHead implements ResponseHead {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly location: string | undefined;
  readonly contentEncoding: string | undefined;
  readonly #headers: Headers;
  readonly #keptHeaders: ReadonlySet<string>;

  constructor(status: number, headers: Headers, keptHeaders: ReadonlySet<string>) {
    const codings = headers['content-encoding'];
    this.status = status;
    this.contentType = first(headers['content-type']);
    this.location = first(headers.location);
    this.contentEncoding = typeof codings === 'string' ? codings : codings?.join(', ');
    this.#headers = headers;
    this.#keptHeaders = keptHeaders;
  }

  header(name: string): string | undefined {
    return this.#keptHeaders.has(name) ? first(this.#headers[name]) : undefined;
  }
}

/** The first of equal headers, without the white space around it, which undici leaves at the end. */
function first(value: string | string[] | undefined): string | undefined {
  return (typeof value === 'string' ? value : value?.[0])?.trim();
}

/** The body ended before its declared end. */
const TRUNCATED = 'HPE_INVALID_EOF_STATE';
/** Two lengths in a head, or fewer bytes than the length. */
const LENGTH_MISMATCH = 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH';

const PLAIN: Readonly<Record<string, (error: Error) => Error>> = {
  // undici reports an interim response or upgrade that was not asked for as a socket error
  UND_ERR_SOCKET: (error) => (/^bad /.test(error.message) ? malformed(error) : reset(error)),
  ERR_ASSERTION: malformed, // a 101 that was not asked for ends in one
  [TRUNCATED]: reset,
  UND_ERR_HEADERS_OVERFLOW: malformed,
  UND_ERR_CONNECT_TIMEOUT: timedOut,
  UND_ERR_HEADERS_TIMEOUT: timedOut, // of a CONNECT
  UND_ERR_DESTROYED: closed,
  UND_ERR_CLOSED: closed,
};

function malformed(cause: Error): Error {
  return new MalformedResponse('the response is not HTTP/1.1', { cause });
}

function reset(cause: Error): Error {
  return Object.assign(new Error('the server closed the connection', { cause }), { code: 'ECONNRESET' });
}

function timedOut(cause: Error): Error {
  return Object.assign(new Error('no connection in time', { cause }), { code: 'ETIMEDOUT' });
}

function closed(): Error {
  return new Error('the connections to this origin are closed');
}

function codeOf(error: Error): string {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? code : '';
}
