import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import type { Caller } from '../../contract/caller.ts';
import type { Era } from '../../contract/era.ts';
import type { GatewayFault } from '../../errors.ts';
import type { Limits } from '../../protocol/limits.ts';
import { RawJsonError, RawObject, rawElements } from '../../protocol/raw-json.ts';
import { LinkFailure, socketFailure } from '../failure.ts';
import type { Exchange, Wire, WireSink } from '../link.ts';
import { errorOf, idFrom } from '../message.ts';
import { BackendError } from '../room.ts';
import { SseFrames, SseTooLarge } from '../sse-frames.ts';
import { type HttpTarget, MAX_REFUSAL_BYTES, NEVER, statusFailure } from './http-target.ts';

/** A stream may stay open this long after its answer before it is cut. */
const LINGER_MS = 2_000;
const RETRY_FIRST_MS = 1_000;
const RETRY_MAX_MS = 30_000;
/** Reconnects of one broken answer stream; its request ends by its own time anyway. */
const MAX_RESUMES = 100;
const CLOSE_TIMEOUT_MS = 2_000;

const JSON_TYPE = 'application/json';
const STREAM_TYPE = 'text/event-stream';
const ACCEPT = `${JSON_TYPE}, ${STREAM_TYPE}`;

/** Streamable HTTP: one POST per message, its answer as JSON or as its own event stream (MCP transports). */
export class StreamableHttpWire implements Wire {
  readonly closingCancels = true;
  readonly target: HttpTarget;
  readonly sink: WireSink;
  readonly limits: Limits;
  readonly workload: string;
  readonly #caller: Caller;
  #era: Era | undefined;
  #version: string | undefined;
  #sessionId: string | undefined;
  #closed = false;
  #channel: ServerChannel | undefined;

  constructor(target: HttpTarget, sink: WireSink, limits: Limits, caller: Caller) {
    this.target = target;
    this.sink = sink;
    this.limits = limits;
    this.workload = target.backend.name;
    this.#caller = caller;
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
    const answer = new Answer(this, exchange, body, era);
    const { caller, purpose, headers: extra } = asked;
    const request = { method: 'POST', headers, body, caller, purpose, signal: asked.signal ?? NEVER } as const;
    const refused = (cause: GatewayFault) => exchange.fail(cause);
    this.target.send(extra === undefined ? request : { ...request, extra }, answer, refused);
  }

  post(body: Buffer, method: string, caller: Caller | undefined): Promise<void> {
    const headers = this.headers(this.#era ?? '2025-11-25', ACCEPT);
    headers['content-type'] = JSON_TYPE;
    if (this.#era === '2026-07-28') headers['mcp-method'] = method;
    return this.#plain('POST', headers, caller ?? this.#caller, this.limits.helloMs, body);
  }

  agreed(era: Era, protocolVersion: string): void {
    this.#era = era;
    this.#version = protocolVersion;
  }

  /** Opens the server's own stream in the background, when the server offers one. */
  openChannel(): void {
    this.#channel = new ServerChannel(this, this.#caller);
    this.#channel.open();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#channel?.close();
    if (this.#sessionId === undefined) return;
    // 405 means that the server ends sessions on its own terms; either way the link is over for us.
    await this.#plain('DELETE', this.headers('2025-11-25', ACCEPT), this.#caller, CLOSE_TIMEOUT_MS).catch(
      () => undefined,
    );
  }

  headers(era: Era, accept: string): Record<string, string> {
    const headers: Record<string, string> = { accept };
    if (era === '2026-07-28') headers['mcp-protocol-version'] = era;
    else if (this.#version !== undefined) headers['mcp-protocol-version'] = this.#version;
    if (this.#sessionId !== undefined) headers['mcp-session-id'] = this.#sessionId;
    return headers;
  }

  /** The answer to the hello names the session. */
  learnSession(headers: IncomingHttpHeaders): void {
    const id = headers['mcp-session-id'];
    if (typeof id === 'string' && id !== '') this.#sessionId = id;
  }

  /** The server does not know the session any more; whatever it refused did not run. */
  sessionLost(status: number): LinkFailure {
    const facts = { category: 'session', notRun: true, linkLost: true } as const;
    return new LinkFailure('BACKEND_UNREACHABLE', this.workload, `lost the session (HTTP ${status})`, facts);
  }

  /** Whether a refusal says that the session is gone. 404 does by the book; some servers say it with 400. */
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
      const handler = new PlainAnswer(this, timeoutMs, resolve, reject);
      const request = { method, headers, caller, purpose: 'session', signal: NEVER } as const;
      this.target.send(body === undefined ? request : { ...request, body }, handler, reject);
    });
  }
}

/** -32000 and -32001 are what SDK servers use for an unknown session. */
const SESSION_CODES: ReadonlySet<number> = new Set([-32000, -32001]);

/** Collects the answer to one request: JSON, an event stream, or a refusal. */
class Answer implements Dispatcher.DispatchHandler {
  readonly #wire: StreamableHttpWire;
  readonly #exchange: Exchange;
  readonly #body: Buffer;
  readonly #era: Era;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #kind: 'json' | 'stream' | 'refusal' = 'refusal';
  #location: string | undefined;
  #chunks: Buffer[] = [];
  #size = 0;
  #limit = MAX_REFUSAL_BYTES;
  #frames: SseFrames | undefined;
  #linger: NodeJS.Timeout | undefined;

  constructor(wire: StreamableHttpWire, exchange: Exchange, body: Buffer, era: Era) {
    this.#wire = wire;
    this.#exchange = exchange;
    this.#body = body;
    this.#era = era;
    exchange.abandon = () => this.#controller?.abort(WITHDRAWN);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#exchange.settled) controller.abort(WITHDRAWN);
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#location = headers.location;
    if (status < 200 || status > 299) return;
    if (this.#exchange.asked.method === 'initialize') this.#wire.learnSession(headers);
    const type = mediaType(headers['content-type']);
    if (type === JSON_TYPE) {
      this.#kind = 'json';
      this.#limit = this.#wire.limits.resultBytes;
    } else if (type === STREAM_TYPE) {
      this.#kind = 'stream';
      this.#frames = framesFor(this.#wire, this.#exchange);
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#frames !== undefined) return this.#read(this.#frames, controller, chunk);
    this.#size += chunk.length;
    if (this.#size <= this.#limit) {
      this.#chunks.push(chunk);
      return;
    }
    this.#chunks = [];
    if (this.#kind === 'refusal') return;
    this.#exchange.fail(tooLarge(this.#wire.workload, this.#limit));
    controller.abort(WITHDRAWN);
  }

  onResponseEnd(): void {
    clearTimeout(this.#linger);
    if (this.#exchange.settled) return;
    if (this.#kind === 'json') return this.#whole();
    if (this.#kind === 'stream') return this.#broken(undefined);
    this.#refused();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    clearTimeout(this.#linger);
    if (this.#exchange.settled) return;
    if (this.#frames !== undefined) return this.#broken(error);
    this.#exchange.fail(socketFailure(this.#wire.workload, error, this.#controller !== undefined));
  }

  #read(frames: SseFrames, controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const failure = pushFrames(frames, chunk, this.#wire);
    if (failure !== undefined) {
      this.#exchange.fail(failure);
      controller.abort(WITHDRAWN);
      return;
    }
    if (!this.#exchange.settled || this.#linger !== undefined) return;
    this.#linger = setTimeout(() => controller.abort(WITHDRAWN), LINGER_MS);
    this.#linger.unref();
  }

  #whole(): void {
    const { sink, workload } = this.#wire;
    const body = joined(this.#chunks);
    try {
      const first = body.find((byte) => byte > 0x20);
      // 2025-03-26 servers may answer with an array.
      const messages = first === 0x5b ? rawElements(body) : [body];
      for (const message of messages) sink.hear(message, this.#exchange);
    } catch (cause) {
      return this.#exchange.fail(notMcp(workload, cause));
    }
    if (!this.#exchange.settled) this.#exchange.fail(notMcp(workload, undefined));
  }

  #broken(error: Error | undefined): void {
    const { workload } = this.#wire;
    const frames = this.#frames;
    const resumable = this.#era === '2025-11-25' && frames?.lastEventId !== undefined && !this.#wire.closed;
    if (resumable && frames !== undefined) {
      new Resumption(this.#wire, this.#exchange, frames).wait();
      return;
    }
    this.#exchange.fail(socketFailure(workload, error ?? new Error('stream ended'), true));
  }

  #refused(): void {
    const { target, workload } = this.#wire;
    if (target.moved(this.#status, this.#location)) {
      this.#wire.send(this.#body, this.#exchange, this.#era);
      return;
    }
    this.#exchange.fail(this.#refusal(joined(this.#chunks), workload));
  }

  #refusal(body: Buffer, workload: string): Error {
    const status = this.#status;
    if (status >= 200 && status <= 299) return notMcp(workload, undefined);
    if (this.#wire.isSessionLoss(status, body)) {
      const lost = this.#wire.sessionLost(status);
      this.#wire.sink.lost(lost);
      return lost;
    }
    if (status === 401 || status === 403) return statusFailure(workload, status);
    const error = errorIn(body);
    // An error with our id is the server's answer to this request, whatever the status around it.
    const own = error !== undefined && (error.id === this.#exchange.id || isProtocolCode(error.code, this.#era));
    if (error !== undefined && own) return new BackendError(workload, error.code, error.message, error.data);
    return statusFailure(workload, status);
  }
}

/** Codes that MCP 2026-07-28 owns count without an id: the server refused before it read one. */
function isProtocolCode(code: number, era: Era): boolean {
  return era === '2026-07-28' && code <= -32020 && code >= -32099;
}

/** Reads on a broken answer stream with GET and `Last-Event-ID` (2025-11-25, SEP-1699). */
class Resumption implements Dispatcher.DispatchHandler {
  readonly #wire: StreamableHttpWire;
  readonly #exchange: Exchange;
  readonly #frames: SseFrames;
  #controller: Dispatcher.DispatchController | undefined;
  #timer: NodeJS.Timeout | undefined;
  #status = 0;
  #attempts = 0;

  constructor(wire: StreamableHttpWire, exchange: Exchange, frames: SseFrames) {
    this.#wire = wire;
    this.#exchange = exchange;
    this.#frames = frames;
    exchange.abandon = () => {
      clearTimeout(this.#timer);
      this.#controller?.abort(WITHDRAWN);
    };
  }

  wait(): void {
    if (this.#attempts++ >= MAX_RESUMES) return this.#giveUp(new Error('stream not resumed'));
    const ms = this.#frames.retryMs ?? backOffMs(this.#attempts);
    this.#timer = setTimeout(() => this.#open(), Math.min(ms, RETRY_MAX_MS));
  }

  #open(): void {
    if (this.#exchange.settled || this.#wire.closed) return;
    this.#frames.restart();
    const headers = this.#wire.headers('2025-11-25', STREAM_TYPE);
    headers['last-event-id'] = this.#frames.lastEventId ?? '';
    const { caller, purpose, signal } = this.#exchange.asked;
    const request = { method: 'GET', headers, caller, purpose, signal: signal ?? NEVER } as const;
    this.#wire.target.send(request, this, (cause) => this.#exchange.fail(cause));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#exchange.settled) controller.abort(WITHDRAWN);
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number): void {
    this.#status = status;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#status !== 200) return;
    const failure = pushFrames(this.#frames, chunk, this.#wire);
    if (failure !== undefined) this.#exchange.fail(failure);
    if (this.#exchange.settled) controller.abort(WITHDRAWN);
  }

  onResponseEnd(): void {
    if (this.#exchange.settled) return;
    if (this.#status === 200 || this.#status >= 500) return this.wait();
    this.#giveUp(new Error(`stream not resumed: HTTP ${this.#status}`));
  }

  onResponseError(): void {
    if (!this.#exchange.settled) this.wait();
  }

  #giveUp(cause: Error): void {
    this.#exchange.fail(socketFailure(this.#wire.workload, cause, true));
  }
}

/** The stream on which a legacy server speaks by itself: GET, kept open, reopened where it stopped. */
class ServerChannel implements Dispatcher.DispatchHandler {
  readonly #wire: StreamableHttpWire;
  readonly #caller: Caller;
  readonly #frames: SseFrames;
  #controller: Dispatcher.DispatchController | undefined;
  #timer: NodeJS.Timeout | undefined;
  #status = 0;
  #type = '';
  #failures = 0;
  #refusal: Buffer[] = [];
  #refusalBytes = 0;

  constructor(wire: StreamableHttpWire, caller: Caller) {
    this.#wire = wire;
    this.#caller = caller;
    this.#frames = framesFor(wire, undefined);
  }

  open(): void {
    if (this.#wire.closed) return;
    this.#status = 0;
    this.#refusal = [];
    this.#refusalBytes = 0;
    const headers = this.#wire.headers('2025-11-25', STREAM_TYPE);
    this.#frames.restart();
    const { lastEventId } = this.#frames;
    if (lastEventId !== undefined) headers['last-event-id'] = lastEventId;
    const request = { method: 'GET', headers, caller: this.#caller, purpose: 'session', signal: NEVER } as const;
    this.#wire.target.send(request, this, () => this.#again());
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#controller?.abort(WITHDRAWN);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#wire.closed) controller.abort(WITHDRAWN);
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#type = mediaType(headers['content-type']);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#status !== 200 || this.#type !== STREAM_TYPE) {
      this.#refusalBytes += chunk.length;
      if (this.#refusalBytes <= MAX_REFUSAL_BYTES) this.#refusal.push(chunk);
      return;
    }
    this.#failures = 0;
    const failure = pushFrames(this.#frames, chunk, this.#wire);
    if (failure !== undefined) controller.abort(failure);
  }

  onResponseEnd(): void {
    if (this.#wire.closed) return;
    if (this.#wire.isSessionLoss(this.#status, joined(this.#refusal))) {
      this.#wire.sink.lost(this.#wire.sessionLost(this.#status));
      return;
    }
    const transient = this.#status === 429 || this.#status >= 500;
    if (this.#type === STREAM_TYPE || transient) this.#again();
    // Anything else, 405 above all, says that no such stream is offered.
  }

  onResponseError(): void {
    if (!this.#wire.closed) this.#again();
  }

  #again(): void {
    if (this.#wire.closed) return;
    const ms = this.#frames.retryMs ?? backOffMs(++this.#failures);
    this.#timer = setTimeout(() => this.open(), Math.min(ms, RETRY_MAX_MS));
    this.#timer.unref();
  }
}

/** The answer to a notification, a response or DELETE: only its status counts. */
class PlainAnswer implements Dispatcher.DispatchHandler {
  readonly #wire: StreamableHttpWire;
  readonly #resolve: () => void;
  readonly #reject: (cause: Error) => void;
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #expired = false;

  constructor(wire: StreamableHttpWire, timeoutMs: number, resolve: () => void, reject: (cause: Error) => void) {
    this.#wire = wire;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#timer = setTimeout(() => this.#expire(), timeoutMs);
    this.#timer.unref();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#expired) controller.abort(WITHDRAWN);
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    // A stream as an answer to a notification would never end.
    if (mediaType(headers['content-type']) === STREAM_TYPE) controller.abort(WITHDRAWN);
  }

  onResponseData(): void {}

  onResponseEnd(): void {
    clearTimeout(this.#timer);
    if (this.#status >= 200 && this.#status <= 299) return this.#resolve();
    this.#reject(statusFailure(this.#wire.workload, this.#status));
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    clearTimeout(this.#timer);
    if (this.#status >= 200 && this.#status <= 299) return this.#resolve();
    this.#reject(socketFailure(this.#wire.workload, error, this.#controller !== undefined));
  }

  #expire(): void {
    this.#expired = true;
    const facts = { category: 'timeout' } as const;
    this.#reject(new LinkFailure('BACKEND_TIMEOUT', this.#wire.workload, 'did not take a message in time', facts));
    this.#controller?.abort(WITHDRAWN);
  }
}

const WITHDRAWN = new Error('withdrawn by the gateway');

function framesFor(wire: StreamableHttpWire, exchange: Exchange | undefined): SseFrames {
  return new SseFrames(wire.limits.frameBytes, (event) => {
    if (event.name === 'message' && event.data.length > 0) wire.sink.hear(event.data, exchange);
  });
}

/** Reads a chunk; gives the failure when it is too large or not JSON. */
function pushFrames(frames: SseFrames, chunk: Buffer, wire: StreamableHttpWire): LinkFailure | undefined {
  try {
    frames.push(chunk);
    return undefined;
  } catch (cause) {
    if (cause instanceof SseTooLarge) return tooLarge(wire.workload, wire.limits.frameBytes);
    if (cause instanceof RawJsonError || cause instanceof SyntaxError) return notMcp(wire.workload, cause);
    throw cause;
  }
}

function tooLarge(workload: string, limit: number): LinkFailure {
  const sentence = `answered more than ${limit} bytes`;
  return new LinkFailure('BACKEND_TOO_LARGE', workload, sentence, { category: 'too-large' });
}

function notMcp(workload: string, cause: unknown): LinkFailure {
  const facts = { category: 'protocol', cause } as const;
  return new LinkFailure('BACKEND_PROTOCOL', workload, 'answered something that is not an MCP message', facts);
}

interface ErrorIn {
  readonly id: number | string | undefined;
  readonly code: number;
  readonly message: string;
  readonly data: Buffer | undefined;
}

/** The JSON-RPC error in a body, when it is one. */
function errorIn(body: Buffer): ErrorIn | undefined {
  try {
    const message = RawObject.parse(body);
    const error = message.object('error');
    return error === undefined ? undefined : { id: idFrom(message.get('id')), ...errorOf(error) };
  } catch {
    return undefined; // HTML and other texts: the status says it all
  }
}

function joined(chunks: readonly Buffer[]): Buffer {
  return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
}

function mediaType(header: string | string[] | undefined): string {
  if (typeof header !== 'string') return '';
  const semicolon = header.indexOf(';');
  return (semicolon === -1 ? header : header.slice(0, semicolon)).trim().toLowerCase();
}

function backOffMs(attempt: number): number {
  return Math.min(RETRY_FIRST_MS * 2 ** Math.min(attempt - 1, 10), RETRY_MAX_MS) * (0.75 + Math.random() * 0.5);
}
