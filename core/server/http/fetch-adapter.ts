import type { Inbound, Responder, ResponseHeaders, ResponseStream } from '../../contract/inbound.ts';
import { CLOSED_STREAM } from './node-adapter.ts';

/** A web-standard exchange: the request, its responder, and the promise of the response. */
export interface WebExchange {
  readonly inbound: Inbound;
  readonly responder: Responder;
  readonly response: Promise<Response>;
}

/** Adapts a web-standard request. For embedders; the hosts use Node's own objects. */
export function openWebExchange(request: Request): WebExchange {
  const gone = new Set<() => void>();
  const leave = (): void => {
    for (const each of gone) each();
    gone.clear();
  };
  let answered: ((response: Response) => void) | undefined;
  const response = new Promise<Response>((resolve) => {
    answered = resolve;
  });
  const answer = (made: Response): void => {
    answered?.(made);
    answered = undefined;
  };
  const responder: Responder = {
    send(status, headers, body) {
      if (answered === undefined) return;
      gone.clear();
      const isEmpty = body === undefined || request.method === 'HEAD' || status === 204;
      answer(new Response(isEmpty ? null : bytesOf(body), { status, headers: webHeaders(headers) }));
    },
    open(status, headers) {
      if (answered === undefined) return CLOSED_STREAM;
      const { stream, readable } = openStream(leave, () => gone.clear());
      answer(new Response(readable, { status, headers }));
      return stream;
    },
    onDisconnect(listener) {
      if (request.signal.aborted) listener();
      else gone.add(listener);
    },
  };
  request.signal.addEventListener('abort', leave, { once: true });
  return { inbound: webInbound(request, responder), responder, response };
}

function webInbound(request: Request, responder: Responder): Inbound {
  const controller = new AbortController();
  responder.onDisconnect(() => controller.abort(new Error('the client closed the connection')));
  const url = new URL(request.url);
  const headers: Record<string, string> = Object.fromEntries(request.headers);
  headers.host ??= url.host; // a Request made by code has none
  return {
    method: request.method,
    path: url.pathname,
    query: url.search === '' ? undefined : url.search.slice(1),
    headers,
    remoteAddress: undefined,
    signal: controller.signal,
  };
}

function webHeaders(headers: ResponseHeaders): Headers {
  const made = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string') made.set(name, value);
    else for (const each of value) made.append(name, each);
  }
  return made;
}

function bytesOf(body: Buffer | string | readonly Buffer[]): Uint8Array<ArrayBuffer> {
  if (typeof body === 'string') return new Uint8Array(Buffer.from(body));
  return new Uint8Array(Buffer.isBuffer(body) ? body : Buffer.concat(body));
}

/** A stream that counts its unread bytes, so that the writer knows how slow the reader is. */
function openStream(
  onCancel: () => void,
  onEnd: () => void,
): { readonly stream: ResponseStream; readonly readable: ReadableStream<Uint8Array> } {
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
  const stream: ResponseStream = {
    write(chunk) {
      controller?.enqueue(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
      return pending() < STREAM_BYTES;
    },
    onDrain: (listener) => void drained.push(listener),
    end() {
      controller?.close();
      controller = undefined;
      onEnd();
    },
    get pendingBytes() {
      return pending();
    },
  };
  return { stream, readable };
}

const STREAM_BYTES = 65_536; // unread bytes before `pull` waits
