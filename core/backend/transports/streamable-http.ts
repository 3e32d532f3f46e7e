import type { Caller } from '../../contract/caller.ts';
import type { Era } from '../../contract/era.ts';
import type { Limits } from '../../limits.ts';
import type { ByteBudget } from '../../mcp/byte-budget.ts';
import { mediaType } from '../../mcp/headers.ts';
import { ConnectionFailure, socketFailure } from '../failure.ts';
import type { Exchange, OutgoingRequest, SessionFor, Transport, TransportSink } from '../sessions/backend-session.ts';
import { HttpResponseReader } from './http-answer.ts';
import { type ServerChannel, serverChannel } from './http-streams.ts';
import {
  type BackendReader,
  type HttpRequest,
  type HttpTarget,
  NEVER,
  SESSION_HEADER,
  statusFailure,
} from './http-target.ts';
import { errorIn, type HttpTransport, JSON_TYPE, STREAM_TYPE, WITHDRAWN } from './http-transport.ts';

const CLOSE_TIMEOUT_MS = 2_000;

const ACCEPT = `${JSON_TYPE}, ${STREAM_TYPE}`;

/** One message to send. A class instead of a literal with a getter, for the reason given at `LazyMcpRequest`. */
class PostRequest implements HttpRequest {
  readonly method = 'POST';
  readonly headers: Record<string, string>;
  readonly body: Buffer;
  readonly caller: Caller;
  readonly purpose: OutgoingRequest['purpose'];
  readonly extra: OutgoingRequest['headers'];
  readonly #asked: OutgoingRequest;

  constructor(asked: OutgoingRequest, headers: Record<string, string>, body: Buffer) {
    this.headers = headers;
    this.body = body;
    this.caller = asked.caller;
    this.purpose = asked.purpose;
    this.extra = asked.headers;
    this.#asked = asked;
  }

  /** Created only for an asynchronous authorizer. */
  get signal(): AbortSignal {
    return this.#asked.signal ?? this.#asked.cancel?.signal ?? NEVER;
  }
}

/** Streamable HTTP: one POST per message, its response as JSON or as an event stream (MCP transports). */
export class StreamableHttpTransport implements Transport, HttpTransport {
  readonly closingCancels = true;
  readonly target: HttpTarget;
  readonly sink: TransportSink;
  readonly limits: Limits;
  readonly backend: string;
  readonly bytes: ByteBudget;
  readonly #holder: SessionFor;
  #era: Era | undefined;
  #version: string | undefined;
  #sessionId: string | undefined;
  #closed = false;
  #channel: ServerChannel | undefined;

  constructor(target: HttpTarget, sink: TransportSink, limits: Limits, holder: SessionFor, bytes: ByteBudget) {
    this.bytes = bytes;
    this.target = target;
    this.sink = sink;
    this.limits = limits;
    this.backend = target.backend.name;
    this.#holder = holder;
  }

  get stateful(): boolean {
    return this.#sessionId !== undefined;
  }

  get closed(): boolean {
    return this.#closed;
  }

  send(body: Buffer, exchange: Exchange, era: Era): void {
    const { asked } = exchange;
    const headers = this.headers(era, ACCEPT);
    headers['content-type'] = JSON_TYPE;
    if (era === '2026-07-28') {
      headers['mcp-method'] = asked.method;
      Object.assign(headers, asked.mirrored);
    }
    const answer = new HttpResponseReader(this, exchange, body, era);
    this.target.send(new PostRequest(asked, headers, body), answer, (cause) => exchange.fail(cause));
  }

  post(body: Buffer, method: string, caller: Caller | undefined): Promise<void> {
    const headers = this.headers(this.#era ?? '2025-11-25', ACCEPT);
    headers['content-type'] = JSON_TYPE;
    if (this.#era === '2026-07-28') headers['mcp-method'] = method;
    return this.#plain('POST', headers, caller ?? this.#holder.caller, this.limits.helloMs, body);
  }

  agreed(era: Era, protocolVersion: string): void {
    this.#era = era;
    this.#version = protocolVersion;
  }

  /** Opens the server's own stream in the background, if the server offers one. */
  openChannel(): void {
    this.#channel = serverChannel(this, this.#holder);
    this.#channel.open();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#channel?.close();
    if (this.#sessionId === undefined) return;
    // 405 means that the server ends sessions itself; the session is over for the gateway in any case.
    await this.#plain('DELETE', this.headers('2025-11-25', ACCEPT), this.#holder.caller, CLOSE_TIMEOUT_MS).catch(
      () => undefined,
    );
  }

  headers(era: Era, accept: string): Record<string, string> {
    const headers: Record<string, string> = { accept };
    if (era === '2026-07-28') headers['mcp-protocol-version'] = era;
    else if (this.#version !== undefined) headers['mcp-protocol-version'] = this.#version;
    if (this.#sessionId !== undefined) headers[SESSION_HEADER] = this.#sessionId;
    return headers;
  }

  /** The first response contains the session id. */
  learnSession(id: string | undefined): void {
    if (id !== undefined && id !== '') this.#sessionId = id;
  }

  /** The server does not know the session any more; requests that it refused for this did not run. */
  sessionLost(status: number): ConnectionFailure {
    return new ConnectionFailure(this.backend, 'session', `lost the session (HTTP ${status})`, {
      notRun: true,
      connectionLost: true,
    });
  }

  /** Whether an error response means that the session has ended. The specification says 404; some servers send 400. */
  isSessionLoss(status: number, body: Buffer): boolean {
    if (this.#sessionId === undefined) return false;
    if (status === 404) return true;
    if (status !== 400) return false;
    const error = errorIn(body);
    return error !== undefined && SESSION_CODES.has(error.code) && /session/i.test(error.message);
  }

  #plain(
    method: 'POST' | 'DELETE',
    headers: Record<string, string>,
    caller: Caller,
    timeoutMs: number,
    body?: Buffer,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const handler = statusReader(this.backend, timeoutMs, resolve, reject);
      const request = { method, headers, caller, purpose: 'session', signal: NEVER } as const;
      this.target.send(body === undefined ? request : { ...request, body }, handler, reject);
    });
  }
}

/** SDK servers use -32000 and -32001 for an unknown session. */
const SESSION_CODES: ReadonlySet<number> = new Set([-32000, -32001]);

/** Reads the response to a notification, a response or DELETE: only its status is used. */
function statusReader(
  backend: string,
  timeoutMs: number,
  resolve: () => void,
  reject: (cause: Error) => void,
): BackendReader {
  let status = 0;
  let isExpired = false;
  const isTaken = (): boolean => status >= 200 && status <= 299;
  const reader: BackendReader = {
    flow: undefined,
    get isWithdrawn() {
      return isExpired;
    },
    answered(flow, head) {
      status = head.status;
      // A stream as response to a notification would never end, and its body is not needed.
      const isUnneeded = isTaken() && head.contentEncoding !== undefined;
      if (isUnneeded || mediaType(head.contentType) === STREAM_TYPE) flow.abort(WITHDRAWN);
    },
    received() {},
    ended() {
      clearTimeout(timer);
      if (isTaken()) resolve();
      else reject(statusFailure(backend, status));
    },
    failed(error, isSent) {
      clearTimeout(timer);
      if (isTaken()) resolve();
      else reject(socketFailure(backend, error, isSent));
    },
  };
  const timer = setTimeout(() => {
    isExpired = true;
    reject(new ConnectionFailure(backend, 'timeout', 'did not accept a message in time'));
    reader.flow?.abort(WITHDRAWN);
  }, timeoutMs);
  timer.unref();
  return reader;
}
