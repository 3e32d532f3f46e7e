import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { onTestFinished } from 'vitest';
import { type HttpClientName, ownClient } from '../../../core/http1/choose-client.ts';
import type {
  HttpClient,
  HttpClientFactory,
  HttpClientOptions,
  RequestControl,
  ResponseHead,
  ResponseReader,
} from '../../../core/http1/http-client.ts';
import { originFrom } from '../../../core/http1/origin.ts';
import type { ProxyRoute } from '../../../core/http1/proxy-route.ts';
import { createUndiciClient } from '../../../core/http1/undici-client.ts';
import { certificates } from '../../support/certificates.ts';

/** A request as its raw text, and the socket it came on. */
export interface Heard {
  readonly text: string;
  readonly socket: Socket;
}

/** A server that answers each request with whatever bytes a test says. */
export interface ScriptedServer {
  readonly url: URL;
  readonly heard: Heard[];
  /** Connections taken so far. */
  readonly sockets: Socket[];
  readonly ca: string | undefined;
}

type Answering = (heard: Heard, number: number) => void;

/** Listens on a free loopback port until the test ends. A request is whole when its declared length has come. */
export async function scriptedServer(answering: Answering, isTls = false): Promise<ScriptedServer> {
  const heard: Heard[] = [];
  const sockets: Socket[] = [];
  const take = (socket: Socket): void => {
    sockets.push(socket);
    let text = '';
    socket.on('error', () => {});
    socket.on('data', (bytes: Buffer) => {
      text += bytes.toString('latin1');
      for (let end = endOf(text); end !== undefined; end = endOf(text)) {
        const request = { text: text.slice(0, end), socket };
        text = text.slice(end);
        heard.push(request);
        answering(request, heard.length);
      }
    });
  };
  const made = isTls ? certificates() : undefined;
  const server: Server = made === undefined ? createServer(take) : createTlsServer(made, take);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const url = new URL(`${isTls ? 'https' : 'http'}://127.0.0.1:${port}`);
  return { url, heard, sockets, ca: made?.ca };
}

function endOf(text: string): number | undefined {
  const head = text.indexOf('\r\n\r\n');
  if (head === -1) return undefined;
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? 0);
  return text.length >= head + 4 + length ? head + 4 + length : undefined;
}

/** Both implementations; each test of the table runs with each. */
export const CLIENTS = { own: ownClient, undici: createUndiciClient } as const satisfies Record<
  HttpClientName,
  HttpClientFactory
>;

/** Makes clients of one implementation; each is destroyed with its test. */
export function clientsOf(create: HttpClientFactory) {
  return ({ url, ca, proxy }: Target, options: Partial<HttpClientOptions> = {}): HttpClient => {
    const origin = originFrom(url, ca, proxy);
    const client = create(origin, { connectTimeoutMs: 5_000, keepAliveMs: 3_000, ...options });
    onTestFinished(() => client.destroy());
    if (create === createUndiciClient) frees.set(client, 'after a turn');
    return client;
  };
}

/** undici frees a connection one turn of the event loop after its response; the core's own client does before the end is told. */
const frees = new WeakMap<HttpClient, 'after a turn'>();

interface Target extends Pick<ScriptedServer, 'url' | 'ca'> {
  readonly proxy?: ProxyRoute | undefined;
}

/** A client of the core's own. */
export const poolTo = clientsOf(ownClient);

/** What one answer came to. */
export interface Outcome {
  readonly head: ResponseHead | undefined;
  readonly body: string;
  readonly error: Error | undefined;
  readonly isSent: boolean;
}

/** What a test does during a request. */
export interface Reactions extends Partial<ResponseReader> {
  /** `send` has returned. */
  sending?(flow: RequestControl): void;
}

/** Collects one answer; `react` steers it on the way. */
export function collect(react: Partial<ResponseReader> = {}): {
  readonly reader: ResponseReader;
  readonly done: Promise<Outcome>;
} {
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
  const chunks: Buffer[] = [];
  let head: ResponseHead | undefined;
  let isOver = false;
  const over = (error: Error | undefined, isSent: boolean): void => {
    if (isOver) return reject(new Error('the reader got two ends'));
    isOver = true;
    resolve({ head, body: Buffer.concat(chunks).toString('latin1'), error, isSent });
  };
  const reader: ResponseReader = {
    answered(flow, given) {
      head = given;
      react.answered?.(flow, given);
    },
    received(flow, bytes) {
      chunks.push(bytes);
      react.received?.(flow, bytes);
    },
    ended() {
      over(undefined, true);
      react.ended?.();
    },
    failed(error, isSent) {
      over(error, isSent);
      react.failed?.(error, isSent);
    },
  };
  return { reader, done: promise };
}

/** Sends one POST and collects its answer; afterwards its connection is free. */
export async function post(
  pool: HttpClient,
  body = '{}',
  headers: Readonly<Record<string, string>> = {},
  react: Reactions = {},
): Promise<Outcome> {
  const { reader, done } = collect(react);
  const flow = pool.send({ method: 'POST', path: '/mcp', headers, body: Buffer.from(body, 'latin1') }, reader);
  react.sending?.(flow);
  const outcome = await done;
  if (frees.has(pool)) await new Promise((resolve) => setImmediate(resolve));
  return outcome;
}

/** An answer with a length. */
export function plainAnswer(body: string, headers = ''): string {
  return `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`;
}
