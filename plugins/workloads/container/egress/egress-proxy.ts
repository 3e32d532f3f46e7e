import type { LookupAddress } from 'node:dns';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type LookupFunction, type Socket } from 'node:net';
import { type Duplex, pipeline } from 'node:stream';
import { explainCause } from '@toolmgr/core';
import type { Destination } from './destination.ts';
import { forwardedHeaders } from './forwarded-headers.ts';

// `import` of node:http would read every export of it, one of which loads undici
const { createServer, request: sendRequest } = process.getBuiltinModule('node:http');

/** What the proxy of one container needs. */
export interface EgressOptions {
  readonly decide: (host: string, port: number) => Promise<Destination>;
  /** Gets one line for each destination that was refused. */
  readonly note: (line: string) => void;
}

/** A forward proxy (HTTP with absolute targets, and CONNECT) on connections that it is given. */
export interface EgressProxy {
  serve(connection: Duplex): void;
  /** Closes all connections. */
  close(): void;
}

const HEAD_BYTES = 16_384;
const HEAD_MS = 30_000;
const CONNECT_MS = 10_000;
const IDLE_MS = 900_000;
const KEEP_ALIVE_MS = 60_000;
/** Connections to the outside per container. */
const MAX_CONNECTIONS = 256;

/** Creates the proxy through which an isolated container reaches the outside. */
export function createEgressProxy({ decide, note }: EgressOptions): EgressProxy {
  const open = new Set<Duplex>();
  const server = createServer({
    maxHeaderSize: HEAD_BYTES,
    headersTimeout: HEAD_MS,
    requestTimeout: 0, // an upload may take long; IDLE_MS ends it when nothing moves
    keepAliveTimeout: KEEP_ALIVE_MS,
  });
  const track = <T extends Duplex>(stream: T): T => {
    open.add(stream);
    stream.once('close', () => open.delete(stream));
    return stream;
  };
  /** The addresses of a target, or an answer with the reason why there are none. */
  const find = async (host: string, port: number): Promise<Found | Answer> => {
    if (open.size > 2 * MAX_CONNECTIONS)
      return { status: 503, text: `more than ${MAX_CONNECTIONS} connections are open` };
    const destination = await decide(host, port);
    const where = `${host}:${port}`;
    if ('failure' in destination) return { status: 502, text: `${where} cannot be reached: ${destination.failure}` };
    if (!('refusal' in destination)) return { socket: () => track(connectTo(destination.addresses, port)) };
    const text = `the connection to ${where} is not allowed: ${destination.refusal}`;
    note(`network isolation: ${text}`);
    return { status: 403, text };
  };

  server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    incoming.on('error', () => undefined);
    const target = httpTarget(incoming.url ?? '');
    if ('text' in target) return answer(outgoing, target);
    void find(target.hostname, Number(target.port || 80)).then(
      (found) => ('text' in found ? answer(outgoing, found) : forward(incoming, outgoing, target, found)),
      (cause: unknown) => answer(outgoing, { status: 502, text: explainCause(cause) }),
    );
  });
  server.on('connect', (incoming: IncomingMessage, client: Duplex, head: Buffer) => {
    client.on('error', () => client.destroy());
    const target = connectTarget(incoming.url ?? '');
    if ('text' in target) return answerConnect(client, target);
    void find(target.hostname, Number(target.port)).then(
      (found) => ('text' in found ? answerConnect(client, found) : tunnel(client, head, found.socket())),
      (cause: unknown) => answerConnect(client, { status: 502, text: explainCause(cause) }),
    );
  });
  server.on('clientError', (_, client) => {
    if (client.writable) client.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n');
    else client.destroy();
  });
  return {
    serve(connection) {
      if (open.size > 2 * MAX_CONNECTIONS) return void connection.destroy();
      server.emit('connection', track(connection));
    },
    close() {
      for (const each of open) each.destroy();
      server.close(); // ends the timer of its connections
    },
  };
}

interface Found {
  socket(): Socket;
}

interface Answer {
  readonly status: 400 | 403 | 502 | 503;
  readonly text: string;
}

/** The target of a request with an absolute URL; the `Host` header has no say. */
function httpTarget(text: string): URL | Answer {
  const url = /^http:\/\//i.test(text) ? URL.parse(text) : null;
  if (url === null) return { status: 400, text: 'expected an absolute http:// URL, or CONNECT for other protocols' };
  return withoutUser(url);
}

/** The target of a CONNECT request: `host:port`, both of them given (RFC 9110 §9.3.6). */
function connectTarget(text: string): { readonly hostname: string; readonly port: string } | Answer {
  const port = /^[^/?#\\]+:(\d{1,5})$/.exec(text)?.[1];
  const url = port === undefined ? null : URL.parse(`http://${text}`);
  if (url === null || port === undefined || Number(port) < 1)
    return { status: 400, text: 'expected CONNECT host:port' };
  const target = withoutUser(url);
  return 'text' in target ? target : { hostname: target.hostname, port };
}

function withoutUser(url: URL): URL | Answer {
  if (url.username === '' && url.password === '') return url;
  return { status: 400, text: 'a user name or password in the target is not allowed' };
}

/** Connects to one of the addresses that were checked; the name is not resolved again. */
function connectTo(addresses: readonly LookupAddress[], port: number): Socket {
  const fixed: LookupFunction = (_, options, done) => {
    const [first] = addresses;
    if (options.all) done(null, [...addresses]);
    else done(null, first?.address ?? '', first?.family);
  };
  const socket = connect({ host: 'checked', port, lookup: fixed, allowHalfOpen: true, noDelay: true });
  const late = setTimeout(() => socket.destroy(new Error(`no connection within ${CONNECT_MS / 1_000} s`)), CONNECT_MS);
  const known = (): void => clearTimeout(late);
  socket.once('connect', known).once('close', known);
  return socket;
}

function forward(incoming: IncomingMessage, outgoing: ServerResponse, target: URL, { socket }: Found): void {
  const sent = sendRequest({
    createConnection: socket,
    method: incoming.method ?? 'GET',
    path: `${target.pathname}${target.search}`,
    headers: ['Host', target.host, ...forwardedHeaders(incoming.rawHeaders, 'request')],
    setHost: false,
    timeout: IDLE_MS,
    maxHeaderSize: HEAD_BYTES,
  });
  sent.once('timeout', () => sent.destroy(new Error('nothing was sent for a long time')));
  sent.once('response', (response) => {
    const headers = forwardedHeaders(response.rawHeaders, 'response');
    outgoing.writeHead(response.statusCode ?? 502, response.statusMessage, headers);
    pipeline(response, outgoing, () => undefined);
  });
  sent.once('error', (cause) =>
    answer(outgoing, { status: 502, text: `${target.host} cannot be reached: ${cause.message}` }),
  );
  outgoing.once('close', () => sent.destroy());
  incoming.pipe(sent);
}

function tunnel(client: Duplex, head: Buffer, server: Socket): void {
  const end = (): void => {
    client.destroy();
    server.destroy();
  };
  const refuse = (cause: Error): void =>
    answerConnect(client, { status: 502, text: `no connection: ${cause.message}` });
  server.once('error', refuse);
  client.once('close', () => server.destroySoon());
  server.once('connect', () => {
    server.off('error', refuse);
    server.on('error', end);
    server.setTimeout(IDLE_MS, end);
    server.once('close', () => {
      if (!server.readableEnded) client.destroy();
    });
    client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    if (head.length > 0) server.write(head);
    client.pipe(server);
    server.pipe(client);
  });
}

function answer(outgoing: ServerResponse, { status, text }: Answer): void {
  if (outgoing.headersSent) return void outgoing.destroy();
  const body = Buffer.from(`${text}\n`);
  const type = 'text/plain; charset=utf-8';
  outgoing.writeHead(status, { 'content-type': type, 'content-length': body.length, connection: 'close' });
  outgoing.end(body);
}

function answerConnect(client: Duplex, { status, text }: Answer): void {
  if (!client.writable) return void client.destroy();
  const body = `${text}\n`;
  const head = `HTTP/1.1 ${status} ${REASONS[status]}\r\nContent-Type: text/plain; charset=utf-8`;
  client.end(`${head}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`);
  client.resume();
}

const REASONS = { 400: 'Bad Request', 403: 'Forbidden', 502: 'Bad Gateway', 503: 'Service Unavailable' } as const;
