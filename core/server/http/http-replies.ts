import type { Responder, ResponseStream } from '../../contract/inbound.ts';
import { eventFrame, KEEP_ALIVE, primingFrame, STREAM_HEADERS } from '../../mcp/event-stream.ts';
import { acceptsStream } from '../../mcp/headers.ts';
import type { MessageStream, Replies } from '../replies.ts';

/** Replies as an HTTP response: a JSON body, or an event stream. */
export class HttpReplies implements Replies {
  readonly #responder: Responder;
  readonly #accept: string | undefined;

  /** `accept` is the request's header. */
  constructor(responder: Responder, accept: string | undefined) {
    this.#responder = responder;
    this.#accept = accept;
  }

  get mayStream(): boolean {
    return acceptsStream(this.#accept);
  }

  failed(error: { readonly code: number; readonly message: string }): void {
    this.#responder.failed?.(error);
  }

  send(status: number, headers: Readonly<Record<string, string>>, message?: Buffer | readonly Buffer[]): void {
    this.#responder.send(status, headers, message);
  }

  stream(): MessageStream {
    return eventStream(this.#responder.open(200, STREAM_HEADERS));
  }

  onDisconnect(listener: () => void): void {
    this.#responder.onDisconnect(listener);
  }
}

/** Messages as server-sent events. */
export function eventStream(stream: ResponseStream): MessageStream {
  return {
    write: ({ parts, eventId }) => stream.write(eventFrame(parts, eventId)),
    prime: (eventId) => void stream.write(primingFrame(eventId, RETRY_MS)),
    keepAlive: () => void stream.write(KEEP_ALIVE),
    onDrain: (listener) => stream.onDrain(listener),
    end: () => stream.end(),
    get pendingBytes() {
      return stream.pendingBytes;
    },
  };
}

const RETRY_MS = 1000; // how long a client waits before it reconnects
