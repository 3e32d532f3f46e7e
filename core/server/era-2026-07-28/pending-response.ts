import type { Responder } from '../../contract/inbound.ts';
import type { RawJson } from '../../contract/json.ts';
import type { WireError } from '../../contract/wire-error.ts';
import { errorBytes, notificationParts, resultParts } from '../../mcp/envelope.ts';
import { eventFrame, STREAM_HEADERS } from '../../mcp/event-stream.ts';
import { acceptsStream } from '../../mcp/headers.ts';
import { withoutPerHop } from '../../mcp/passing.ts';
import { isLogWanted } from '../../mcp/wanted-logs.ts';
import type { Heartbeat, HeartbeatListener } from '../../timing/shared-timers.ts';
import { EventWriter, MUST, urgencyOf } from '../http/event-writer.ts';

/** Headers of a modern response: it depends on the caller, so it must not be cached. */
export const ANSWER_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'application/json',
  'cache-control': 'private, no-store',
};

/** What a pending response needs to know about its request. */
export interface PendingResponseParts {
  readonly id: RawJson;
  readonly responder: Responder;
  readonly accept: string | undefined;
  readonly logLevel: string | undefined;
  readonly hasProgressToken: boolean;
  readonly bufferBytes: number;
  readonly heartbeat: Heartbeat;
}

/**
 * The response to one modern request: plain JSON, or an event stream ended by the result, when a message precedes the
 * result or the result takes so long that the connection needs a keep-alive.
 */
export class PendingResponse implements HeartbeatListener {
  readonly #waiting: PendingResponseParts;
  readonly #mayStream: boolean;
  #writer: EventWriter | undefined;
  #isDone = false;
  #beats = 0;

  constructor(waiting: PendingResponseParts) {
    this.#waiting = waiting;
    this.#mayStream = acceptsStream(waiting.accept);
    if (this.#mayStream) waiting.heartbeat.calls.add(this);
  }

  /** Sends one notification of the call, if the client requested its kind. */
  notify(method: string, params: RawJson): void {
    if (this.#isDone || !this.#mayStream) return;
    const { logLevel, hasProgressToken } = this.#waiting;
    if (method === 'notifications/progress' && !hasProgressToken) return;
    if (method === 'notifications/message' && !isLogWanted(params, logLevel)) return;
    const writer = this.#writer ?? this.#upgrade();
    writer.write(urgencyOf(method), () => eventFrame(notificationParts(method, withoutPerHop(params))));
  }

  result(parts: readonly Buffer[]): void {
    this.#finish(200, resultParts(this.#waiting.id, parts), undefined);
  }

  error(error: WireError, headers?: Readonly<Record<string, string>>): void {
    if (!this.#isDone) this.#waiting.responder.failed?.(error);
    this.#finish(error.status ?? 200, [errorBytes(this.#waiting.id, error)], headers);
  }

  /** Keep-alive; the second one without a result turns the response into a stream. */
  beat(): void {
    if (this.#writer !== undefined) this.#writer.keepAlive();
    else if (++this.#beats >= PATIENCE_BEATS) this.#upgrade().keepAlive();
  }

  #finish(status: number, parts: readonly Buffer[], headers: Readonly<Record<string, string>> | undefined): void {
    if (this.#isDone) return;
    this.#isDone = true;
    const { heartbeat, responder } = this.#waiting;
    if (this.#writer === undefined) {
      if (this.#mayStream) heartbeat.calls.delete(this);
      responder.send(status, headers === undefined ? ANSWER_HEADERS : { ...ANSWER_HEADERS, ...headers }, parts);
      return;
    }
    this.#writer.write(MUST, () => eventFrame(parts));
    this.#endStream();
  }

  #upgrade(): EventWriter {
    const { responder, bufferBytes, heartbeat } = this.#waiting;
    const writer = new EventWriter(responder.open(200, STREAM_HEADERS), bufferBytes);
    this.#writer = writer;
    heartbeat.calls.delete(this);
    heartbeat.streams.add(this);
    responder.onDisconnect(() => {
      this.#isDone = true;
      this.#endStream();
    });
    return writer;
  }

  #endStream(): void {
    if (this.#writer?.isOpen !== true) return;
    this.#writer.end();
    this.#waiting.heartbeat.streams.delete(this);
  }
}

const PATIENCE_BEATS = 2;
