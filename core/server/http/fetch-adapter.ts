import { isIP } from 'node:net';
import type { Responder, ResponseHeaders, ResponseStream } from '../../contract/inbound.ts';
import type { HeldBytes } from '../../mcp/byte-budget.ts';
import type { ClientAddress } from './client-address.ts';
import { CLOSED_STREAM, type HandleOptions, mounted } from './node-adapter.ts';
import type { RecordedInbound } from './request-recorder.ts';

/** What a framework knows about a web-standard request, or did with it before the gateway. */
export interface FetchOptions extends HandleOptions {
  /**
   * IP address of the other end of the connection; a `Request` does not have it. It is needed for bounds per client address
   * and for `trustedProxies`. Without it all clients without an identity share one bound.
   */
  readonly address?: string | undefined;
  /** The path prefix that the framework removed from the URL; the path of the endpoint includes it. Default: none. */
  readonly mountPath?: string | undefined;
}

/** A web-standard exchange: the request, its responder, and the promise of the response. */
export interface WebExchange {
  readonly inbound: RecordedInbound;
  readonly responder: Responder;
  readonly response: Promise<Response>;
  /** The client has disconnected: ends what runs for it. */
  leave(): void;
}

/**
 * Adapts a web-standard request. For embedders; the hosts use Node's own objects.
 *
 * @throws TypeError when the given address is not an IP address
 */
export function openWebExchange(
  request: Request,
  held: HeldBytes,
  { address, mountPath = '' }: FetchOptions = {},
  clientAddress?: ClientAddress,
): WebExchange {
  if (address !== undefined && isIP(address) === 0) {
    throw new TypeError(`gateway.fetch: address must be an IP address, not ${JSON.stringify(address)}`);
  }
  const { promise: response, resolve: answer } = Promise.withResolvers<Response>();
  const listeners = new Set<() => void>();
  let state: 'open' | 'answered' | 'ended' | 'left' = 'open';
  let stream: WebStream | undefined;
  const leave = (): void => {
    if (state === 'ended' || state === 'left') return;
    if (state === 'open') answer(new Response(null, { status: CLIENT_CLOSED_REQUEST }));
    state = 'left';
    stream?.close();
    for (const each of listeners) each();
    listeners.clear();
  };
  const end = (): void => {
    if (state !== 'left') state = 'ended';
    listeners.clear();
  };
  const responder: Responder = {
    send(status, headers, body) {
      if (state !== 'open') return;
      end();
      answer(wholeResponse(status, headers, request.method === 'HEAD', body));
    },
    open(status, headers) {
      if (state !== 'open') return CLOSED_STREAM;
      state = 'answered';
      stream = openStream(leave, end);
      answer(new Response(stream.readable, { status, headers }));
      return stream.writer;
    },
    served: () => held.release(),
    onDisconnect(listener) {
      if (state === 'left') listener();
      else if (state !== 'ended') listeners.add(listener);
    },
  };
  if (request.signal.aborted) leave();
  else request.signal.addEventListener('abort', leave, { once: true });
  return {
    inbound: webInbound(request, responder, held, mountPath, address, clientAddress),
    responder,
    response,
    leave,
  };
}

/** Status of a response that no client receives; the framework needs some response. As nginx logs it. */
const CLIENT_CLOSED_REQUEST = 499;

function webInbound(
  request: Request,
  responder: Responder,
  held: HeldBytes,
  mountPath: string,
  address: string | undefined,
  clientAddress: ClientAddress | undefined,
): RecordedInbound {
  const controller = new AbortController();
  responder.onDisconnect(() => controller.abort(new Error('the client closed the connection')));
  const url = new URL(request.url);
  const headers: Record<string, string> = Object.fromEntries(request.headers);
  headers.host ??= url.host; // a Request made by code has none
  return {
    method: request.method,
    path: mountPath === '' ? url.pathname : mounted(mountPath, url.pathname),
    query: url.search === '' ? undefined : url.search.slice(1),
    headers,
    remoteAddress: clientAddress === undefined ? address : clientAddress(address, headers['x-forwarded-for']),
    signal: controller.signal,
    held,
  };
}

function wholeResponse(
  status: number,
  headers: ResponseHeaders,
  isHead: boolean,
  body: Buffer | string | readonly Buffer[] | undefined,
): Response {
  const bytes = bytesOf(body);
  const all = webHeaders(headers);
  if (!BODILESS.has(status)) all.set('content-length', String(bytes?.length ?? 0));
  return new Response(isHead || BODILESS.has(status) ? null : bytes, { status, headers: all });
}

/** Statuses with which `Response` takes no body. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

function webHeaders(headers: ResponseHeaders): Headers {
  const made = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string') made.set(name, value);
    else for (const each of value) made.append(name, each);
  }
  return made;
}

/** The bytes, copied: a Buffer may be a part of memory that others use. */
function bytesOf(body: Buffer | string | readonly Buffer[] | undefined): Uint8Array<ArrayBuffer> | null {
  if (body === undefined) return null;
  if (typeof body === 'string') return new TextEncoder().encode(body);
  return new Uint8Array(Buffer.isBuffer(body) ? body : Buffer.concat(body));
}

interface WebStream {
  readonly writer: ResponseStream;
  readonly readable: ReadableStream<Uint8Array>;
  /** Ends the stream; an error instead would be logged by servers whose client has disconnected. */
  close(): void;
}

/** A stream that counts its unread bytes, so that the writer knows how slow the reader is. */
function openStream(onCancel: () => void, onEnd: () => void): WebStream {
  const drained: (() => void)[] = [];
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const readable = new ReadableStream<Uint8Array>(
    {
      start: (made) => {
        controller = made;
      },
      pull: () => {
        for (const each of drained) each();
      },
      cancel: () => {
        controller = undefined;
        onCancel();
      },
    },
    { highWaterMark: STREAM_BYTES, size: (chunk) => chunk?.length ?? 0 },
  );
  const pending = (): number => STREAM_BYTES - (controller?.desiredSize ?? STREAM_BYTES);
  const close = (): void => {
    controller?.close();
    controller = undefined;
  };
  const writer: ResponseStream = {
    write(chunk) {
      if (typeof chunk === 'string') controller?.enqueue(Buffer.from(chunk));
      else controller?.enqueue(Buffer.isBuffer(chunk) ? chunk : Buffer.concat(chunk));
      return pending() < STREAM_BYTES;
    },
    onDrain: (listener) => void drained.push(listener),
    end() {
      close();
      onEnd();
    },
    get pendingBytes() {
      return pending();
    },
  };
  return { writer, readable, close };
}

const STREAM_BYTES = 65_536; // unread bytes before `pull` waits
