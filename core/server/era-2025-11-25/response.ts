import type { CallResult } from '../../contract/call.ts';
import type { ClientResponse } from '../../contract/client-context.ts';
import type { SessionEnded } from '../../contract/event.ts';
import type { JsonObject, RawJson } from '../../contract/json.ts';
import type { Refusal } from '../../contract/refusal.ts';
import type { WireError } from '../../contract/wire-error.ts';
import { decodeObject } from '../../json/json-value.ts';
import {
  errorBytes,
  membersOf,
  notificationParts,
  resultParts,
  retryData,
  retryHeaders,
  toolFailure,
} from '../../mcp/envelope.ts';
import { CODE, wireError } from '../../mcp/errors.ts';
import { isLogWanted } from '../../mcp/log-levels.ts';
import type { RequestMessage } from '../../mcp/message.ts';
import { endToEndMeta, withoutPerHop } from '../../mcp/meta.ts';
import { Cancel } from '../../timing/cancel.ts';
import type { Heartbeat, HeartbeatListener } from '../../timing/shared-timers.ts';
import { MessageWriter, urgencyOf } from '../message-writer.ts';
import type { Replies } from '../replies.ts';
import { relayableRequest } from './client-requests.ts';
import { MISSING, RETRY_LATER } from './find-session.ts';
import type { ResumableStream } from './sessions/resumable-stream.ts';
import type { RunningCall, Session } from './sessions/session.ts';

export const ANSWER_HEADERS: Readonly<Record<string, string>> = { 'content-type': 'application/json' };

/** What a pending response needs to know about its request. */
export interface PendingResponseParts {
  readonly session: Session;
  readonly message: RequestMessage;
  readonly replies: Replies;
  readonly hasProgressToken: boolean;
  readonly bufferBytes: number;
  readonly askTimeoutMs: number;
  readonly heartbeat: Heartbeat;
  now(): number;
}

/**
 * The response to one legacy request: plain JSON, or a resumable event stream when a message precedes the result or the
 * result takes long. A lost connection does not end the call (MCP 2025-11-25).
 */
export class PendingResponse implements HeartbeatListener, RunningCall {
  readonly mayStream: boolean;
  readonly #waiting: PendingResponseParts;
  /** Cancelled when the client cancels or its session ends. */
  readonly cancellation = new Cancel();
  #stream: ResumableStream | undefined;
  /** The connection was lost before the response became a stream, so the client has no event id to resume with. */
  #isLost = false;
  #isDone = false;
  #beats = 0;

  constructor(waiting: PendingResponseParts) {
    this.#waiting = waiting;
    this.mayStream = waiting.replies.mayStream;
    if (this.mayStream) waiting.heartbeat.calls.add(this);
  }

  notify(method: string, params: RawJson): void {
    const { session, hasProgressToken } = this.#waiting;
    if (this.#isDone || !this.mayStream) return;
    if (method === 'notifications/progress' && !hasProgressToken) return;
    if (method === 'notifications/message' && !isLogWanted(params, session.logLevel)) return;
    this.#open()?.push(urgencyOf(method), notificationParts(method, withoutPerHop(params)));
  }

  /** Sends a request on the stream of this call; on the session's own stream when the connection is lost. */
  request(method: string, params: RawJson, signal: AbortSignal): Promise<ClientResponse> {
    const { session, askTimeoutMs } = this.#waiting;
    const question = relayableRequest(session, method, params);
    if ('error' in question) return Promise.resolve(question);
    const stream = (this.#isDone ? undefined : this.#open()) ?? session.standalone;
    return session.questions.put(stream, method, question.params, signal, askTimeoutMs);
  }

  result(result: readonly RawJson[]): void {
    this.#finish(200, resultParts(this.#waiting.message.id, result));
  }

  error(error: WireError, headers?: Readonly<Record<string, string>>): void {
    if (!this.#isDone) this.#waiting.replies.failed?.(error);
    const retry = error.status === 503 ? { ...retryHeaders(), ...headers } : headers;
    this.#finish(error.status ?? 200, [errorBytes(this.#waiting.message.id, error)], retry);
  }

  /** The client cancelled. A stream still needs a last message, or the client would resume it. */
  cancel(reason: string): void {
    if (this.#isDone) return;
    this.cancellation.abort(new Error(reason));
    if (this.#stream !== undefined) return this.error(wireError(CODE.internalError, reason));
    this.#finish(202, []);
  }

  /** The client gets the error of every later request in the session; on a stop one that tells it to retry. */
  sessionEnded(reason: SessionEnded['reason']): void {
    if (this.#isDone) return;
    this.cancellation.abort(new Error(`the session has ended (${reason})`));
    const { status, code, text } = MISSING[reason === 'shutdown' ? 'stopping' : 'unknown'];
    this.error({ ...wireError(code, text), status }, status === 503 ? RETRY_LATER : undefined);
  }

  beat(): void {
    if (++this.#beats >= PATIENCE_BEATS) this.#open();
  }

  #finish(status: number, parts: readonly Buffer[], headers?: Readonly<Record<string, string>>): void {
    if (this.#isDone) return;
    this.#isDone = true;
    const { session, message, replies, heartbeat, now } = this.#waiting;
    session.calls.delete(message.key);
    if (this.mayStream) heartbeat.calls.delete(this);
    if (this.#stream === undefined) {
      const all = headers === undefined ? ANSWER_HEADERS : { ...ANSWER_HEADERS, ...headers };
      if (parts.length === 0) replies.send(status, {});
      else replies.send(status, all, parts);
      return;
    }
    this.#stream.complete(parts, () => errorBytes(message.id, TOO_LARGE));
    session.finishStream(this.#stream, now());
  }

  #open(): ResumableStream | undefined {
    if (this.#stream !== undefined || this.#isLost) return this.#stream;
    const { session, replies, bufferBytes, heartbeat } = this.#waiting;
    replies.onDisconnect(() => {
      this.#isLost = this.#stream === undefined;
    });
    if (this.#isLost) return undefined;
    heartbeat.calls.delete(this); // now the stream sends the keep-alive comments
    const stream = session.openStream();
    this.#stream = stream;
    const writer = new MessageWriter(replies.stream(), bufferBytes);
    stream.attach(writer, 0);
    replies.onDisconnect(() => stream.detach(writer));
    return stream;
  }
}

const PATIENCE_BEATS = 2;
const TOO_LARGE = wireError(CODE.internalError, 'the answer was too large to be stored for a resumed stream');

/**
 * A result for legacy clients: without the members of modern clients and without the `_meta` of the backend. A result
 * without any of them is sent unchanged.
 */
export function legacyResult(result: CallResult): RawJson {
  const members = membersOf(result);
  const plain = members.without('resultType', 'ttlMs', 'cacheScope');
  const meta = plain.get('_meta');
  if (meta === undefined) return plain.toBytes();
  const kept = endToEndMeta(meta);
  if (kept === meta) return plain.toBytes();
  return (kept === undefined ? plain.without('_meta') : plain.with('_meta', kept)).toBytes();
}

/** A rate-limited tool call is answered by a result that the model can read; its code is outside the reserved range. */
export function limitedResult(refusal: Refusal): RawJson {
  const text = 'Rate limit exceeded';
  const structuredContent: JsonObject = { code: 429, message: text, data: retryData(refusal) };
  return toolFailure(text, { structuredContent }).bytes;
}

/**
 * An error for legacy clients: -32602 about the resource that was read becomes "not found", -32002. Any other -32602 is
 * kept, because it may be about the arguments.
 */
export function legacyError(error: WireError, { method, given }: RequestMessage): WireError {
  if (error.code !== CODE.invalidParams || method !== 'resources/read' || error.data === undefined) return error;
  const isThisResource = error.data[0] === 0x7b && decodeObject(error.data)?.uri === given.uri;
  return isThisResource ? { ...error, code: CODE.legacyResourceNotFound } : error;
}
