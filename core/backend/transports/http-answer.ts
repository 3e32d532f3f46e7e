import type { Era } from '../../contract/era.ts';
import type { RequestControl, ResponseHead } from '../../http1/http-client.ts';
import { ByteCollector, joined } from '../../json/byte-pieces.ts';
import { rawElements } from '../../json/raw-elements.ts';
import { sameId } from '../../mcp/backend-message.ts';
import { BackendError } from '../../mcp/errors.ts';
import { mediaType } from '../../mcp/headers.ts';
import type { SseFrames } from '../../mcp/sse-frames.ts';
import { socketFailure } from '../failure.ts';
import type { Exchange } from '../sessions/backend-session.ts';
import { HeldReading, heldOfBackend, memorySpent } from './held-reading.ts';
import { resumeStream } from './http-streams.ts';
import {
  type BackendReader,
  CHALLENGE_HEADER,
  MAX_REFUSAL_BYTES,
  SESSION_HEADER,
  statusFailure,
} from './http-target.ts';
import {
  errorIn,
  framesFor,
  type HttpTransport,
  JSON_TYPE,
  notMcp,
  pushFrames,
  STREAM_TYPE,
  tooLarge,
  WITHDRAWN,
} from './http-transport.ts';

/** Maximum number of messages in an array response. */
const MAX_BATCH = 1_000;
/** How long a stream may stay open after its response. */
const LINGER_MS = 2_000;

/** Reads the response to one request: JSON, an event stream, or an error. */
export class HttpResponseReader implements BackendReader {
  readonly #wire: HttpTransport;
  readonly #exchange: Exchange;
  readonly #body: Buffer;
  readonly #era: Era;
  readonly #reading: HeldReading;
  flow: RequestControl | undefined;
  #status = 0;
  #kind: 'json' | 'stream' | 'refusal' = 'refusal';
  #location: string | undefined;
  #challenge: string | undefined;
  #arrived = new ByteCollector();
  /** The size limit was exceeded. */
  #isOver = false;
  #limit = MAX_REFUSAL_BYTES;
  #frames: SseFrames | undefined;
  /** The error of the last event that was not a message. */
  #stray: Error | undefined;
  #linger: NodeJS.Timeout | undefined;

  constructor(wire: HttpTransport, exchange: Exchange, body: Buffer, era: Era) {
    this.#wire = wire;
    this.#exchange = exchange;
    this.#body = body;
    this.#era = era;
    this.#reading = new HeldReading(exchange.asked.held ?? heldOfBackend(wire), () => this.#outOfMemory());
    exchange.abandon = () => this.flow?.abort(WITHDRAWN);
  }

  get isWithdrawn(): boolean {
    return this.#exchange.settled;
  }

  answered(_: RequestControl, head: ResponseHead): void {
    const { status } = head;
    this.#status = status;
    this.#location = head.location;
    if (status === 403) this.#challenge = head.header(CHALLENGE_HEADER);
    if (status < 200 || status > 299) return;
    if (this.#exchange.asked.method === 'initialize') this.#wire.learnSession(head.header(SESSION_HEADER));
    const type = mediaType(head.contentType);
    if (type === JSON_TYPE) {
      this.#kind = 'json';
      this.#limit = this.#wire.limits.resultBytes;
    } else if (type === STREAM_TYPE) {
      this.#kind = 'stream';
      this.#frames = framesFor(this.#wire, this.#exchange, (cause) => {
        this.#stray = cause;
      });
    }
  }

  received(flow: RequestControl, chunk: Buffer): void {
    if (this.#frames !== undefined) return this.#read(this.#frames, flow, chunk);
    if (this.#isOver) return;
    this.#arrived.add(chunk);
    if (this.#arrived.bytes <= this.#limit) return void this.#reading.holds(this.#arrived.bytes, flow);
    this.#reading.release();
    this.#arrived = new ByteCollector();
    this.#isOver = true;
    if (this.#kind === 'refusal') return;
    this.#exchange.fail(tooLarge(this.#wire.backend, this.#limit));
    flow.abort(WITHDRAWN);
  }

  ended(): void {
    clearTimeout(this.#linger);
    if (this.#exchange.settled) return this.#reading.release();
    if (this.#kind === 'json') this.#whole();
    this.#reading.release();
    if (this.#exchange.settled) return;
    if (this.#kind === 'stream') return this.#broken(undefined);
    this.#refused();
  }

  failed(error: Error, isSent: boolean): void {
    clearTimeout(this.#linger);
    this.#reading.release();
    if (this.#exchange.settled) return;
    if (this.#frames !== undefined) return this.#broken(error);
    this.#exchange.fail(socketFailure(this.#wire.backend, error, isSent));
  }

  #read(frames: SseFrames, flow: RequestControl, chunk: Buffer): void {
    const failure = pushFrames(frames, chunk, this.#wire);
    if (failure !== undefined) {
      this.#exchange.fail(failure);
      flow.abort(WITHDRAWN);
      return;
    }
    this.#reading.took(chunk.length, frames.pendingBytes, flow);
    if (!this.#exchange.settled || this.#linger !== undefined) return;
    this.#linger = setTimeout(() => flow.abort(WITHDRAWN), LINGER_MS);
    this.#linger.unref();
  }

  #outOfMemory(): void {
    this.#exchange.fail(memorySpent(this.#wire.backend));
    this.flow?.abort(WITHDRAWN);
  }

  #whole(): void {
    const { sink, backend } = this.#wire;
    const body = joined(this.#arrived);
    try {
      const first = firstByte(body);
      // 2025-03-26 servers may respond with an array.
      const messages = first === 0x5b ? rawElements(body, MAX_BATCH) : [body];
      for (const message of messages) sink.hear(message, this.#exchange);
    } catch (cause) {
      return this.#exchange.fail(notMcp(backend, cause));
    }
    if (!this.#exchange.settled) this.#exchange.fail(notMcp(backend, undefined));
  }

  #broken(error: Error | undefined): void {
    const { backend } = this.#wire;
    const frames = this.#frames;
    const resumable = this.#era === '2025-11-25' && frames?.lastEventId !== undefined && !this.#wire.closed;
    if (resumable && frames !== undefined) {
      return resumeStream(this.#wire, this.#exchange, frames);
    }
    if (error === undefined && this.#stray !== undefined) return this.#exchange.fail(notMcp(backend, this.#stray));
    this.#exchange.fail(socketFailure(backend, error ?? new Error('stream ended'), true));
  }

  #refused(): void {
    const { target, backend } = this.#wire;
    if (target.moved(this.#status, this.#location)) {
      this.#wire.send(this.#body, this.#exchange, this.#era);
      return;
    }
    this.#exchange.fail(this.#refusal(joined(this.#arrived), backend));
  }

  #refusal(body: Buffer, backend: string): Error {
    const status = this.#status;
    if (status >= 200 && status <= 299) return notMcp(backend, undefined);
    if (this.#wire.isSessionLoss(status, body)) {
      const lost = this.#wire.sessionLost(status);
      this.#wire.sink.lost(lost);
      return lost;
    }
    if (status === 401 || status === 403) return statusFailure(backend, status, this.#challenge);
    const error = errorIn(body);
    // An error with the id of the request is the server's response, whatever the HTTP status.
    const own = error !== undefined && (sameId(error.id, this.#exchange.id) || isProtocolCode(error.code, this.#era));
    if (error !== undefined && own) {
      return new BackendError(backend, error.code, error.message, error.data, error.members);
    }
    return statusFailure(backend, status);
  }
}

/** The first byte that is not white space. */
function firstByte(body: Buffer): number | undefined {
  for (let at = 0; at < body.length; at++) if ((body[at] as number) > 0x20) return body[at];
  return undefined;
}

/** Error codes of MCP 2026-07-28 are accepted without an id: the server refused the request before it parsed an id. */
function isProtocolCode(code: number, era: Era): boolean {
  return era === '2026-07-28' && code <= -32020 && code >= -32099;
}
