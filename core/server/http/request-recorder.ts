import { randomUUID } from 'node:crypto';
import type { Call } from '../../contract/call.ts';
import type { Caller } from '../../contract/caller.ts';
import type { Era } from '../../contract/era.ts';
import type { Inbound, Responder, ResponseHeaders, ResponseStream } from '../../contract/inbound.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { MessageView, RequestListener, RequestRecord } from '../../contract/request-record.ts';
import type { SessionView } from '../../contract/session.ts';
import { byteLength } from '../../json/byte-pieces.ts';
import { isObject } from '../../json/json-value.ts';
import type { HeldBytes } from '../../mcp/byte-budget.ts';
import { META } from '../../mcp/meta.ts';
import { lengthOf } from './node-adapter.ts';

/** The record of the request of a call; `undefined` for calls of code, and without listeners. */
export function recordOf({ inbound }: Pick<Call, 'inbound'>): RequestRecord | undefined {
  return inbound?.record as RequestRecord | undefined; // only the endpoint sets it
}

/** A request as the server has it: the code that serves it writes to its record. */
export interface RecordedInbound extends Inbound {
  held?: HeldBytes;
  /** Why the request is refused before its headers are read. */
  readonly ambiguity?: string | undefined;
  record?: RequestRecorder;
}

/** Records one request for the listeners. */
export class RequestRecorder implements RequestRecord {
  readonly id = randomUUID();
  readonly inbound: Inbound;
  readonly remoteAddress: string | undefined;
  readonly startedMs: number;
  servedBy: RequestRecord['servedBy'];
  traceId: string | undefined;
  caller: Caller | undefined;
  era: Era | undefined;
  message: MessageView | undefined;
  session: SessionView | undefined;
  call: Call | undefined;
  refusal: string | undefined;
  status = 0;
  isStream = false;
  isGone = false;
  error: RequestRecord['error'];
  body: RequestRecord['body'];
  responseBytes = 0;
  durationMs = 0;
  /** The next response only acknowledges the request; the one that counts is given to {@link answered}. */
  isAnsweredElsewhere = false;
  readonly #listener: RequestListener;
  #isSettled = false;

  constructor(inbound: Inbound, listener: RequestListener) {
    this.inbound = inbound;
    this.remoteAddress = inbound.remoteAddress;
    this.startedMs = listener.now();
    this.#listener = listener;
  }

  get clientInfo(): JsonObject | undefined {
    if (this.session !== undefined) return this.session.clientInfo;
    const given = this.message?.given;
    const meta = given?._meta;
    const said = isObject(meta) ? meta[META.clientInfo] : given?.clientInfo;
    return isObject(said) ? said : undefined;
  }

  refused(reason: string): void {
    this.refusal = reason;
  }

  enters(servedBy: 'mcp' | 'route'): void {
    this.servedBy = servedBy;
  }

  isOf(caller: Caller): void {
    this.caller = caller;
  }

  says(message: MessageView): void {
    this.message = message;
  }

  speaks(era: Era): void {
    this.era = era;
  }

  /** Only the legacy era has sessions. */
  belongsTo(session: SessionView): void {
    this.era = '2025-11-25';
    this.session = session;
  }

  failed({ code, message }: NonNullable<RequestRecord['error']>): void {
    if (this.#isSettled) return;
    this.error = { code, message: message.length > MAX_MESSAGE ? '' : message };
  }

  /** The whole response was sent. */
  answered(status: number, body?: RequestRecord['body']): void {
    if (this.status !== 0) return;
    this.status = status;
    this.body = body;
    this.responseBytes += bytesOf(body);
    this.#settle();
  }

  /** The response is a stream, which begins. */
  streams(status: number): void {
    this.status = status;
    this.isStream = true;
    this.#listener.streamOpened(this);
  }

  /** A piece of a stream was sent. */
  wrote(bytes: number): void {
    this.responseBytes += bytes;
  }

  /** The response is complete. */
  ended(): void {
    this.#settle();
  }

  /** The client disconnected. */
  clientDisconnected(): void {
    if (this.#isSettled) return;
    this.isGone = true;
    this.#settle();
  }

  #settle(): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.durationMs = this.#listener.now() - this.startedMs;
    this.#listener.settled(this);
    this.body = undefined; // a call that is still running references its request, but must not keep the response in memory
  }
}

/** Maximum length of the recorded error message. */
const MAX_MESSAGE = 4_096;

function bytesOf(body: RequestRecord['body']): number {
  if (body === undefined) return 0;
  if (typeof body === 'string') return Buffer.byteLength(body);
  if (Buffer.isBuffer(body)) return body.length;
  return byteLength(body as readonly Buffer[]);
}

/** Records one HTTP request; wraps its responder to see the response. */
export class RecordedResponder extends RequestRecorder implements Responder {
  readonly #responder: Responder;

  constructor(inbound: Inbound, responder: Responder, listener: RequestListener) {
    super(inbound, listener);
    this.#responder = responder;
  }

  send(status: number, headers: ResponseHeaders, body?: RequestRecord['body']): void {
    if (this.status !== 0) return;
    this.#responder.send(status, headers, body);
    if (!this.isAnsweredElsewhere) this.answered(status, body);
  }

  open(status: number, headers: Readonly<Record<string, string>>): ResponseStream {
    const stream = this.#responder.open(status, headers);
    if (this.status !== 0) return stream;
    this.#responder.onDisconnect(() => this.clientDisconnected());
    this.streams(status);
    return watchedStream(stream, this);
  }

  served(): void {
    this.#responder.served?.();
  }

  onDisconnect(listener: () => void): void {
    this.#responder.onDisconnect(listener);
  }
}

function watchedStream(stream: ResponseStream, recorder: RequestRecorder): ResponseStream {
  return {
    write(chunk) {
      recorder.wrote(lengthOf(chunk));
      return stream.write(chunk);
    },
    onDrain: (listener) => stream.onDrain(listener),
    end() {
      stream.end();
      recorder.ended();
    },
    get pendingBytes() {
      return stream.pendingBytes;
    },
  };
}
