import type { Responder, ResponseStream } from '../../contract/inbound.ts';
import { eventFrame, KEEP_ALIVE, primingFrame, STREAM_HEADERS } from '../../mcp/event-stream.ts';
import { acceptsStream } from '../../mcp/headers.ts';
import type { MessageStream, Replies, SentMessage } from '../replies.ts';

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
    return new EventStream(this.#responder.open(200, STREAM_HEADERS));
  }

  onDisconnect(listener: () => void): void {
    this.#responder.onDisconnect(listener);
  }
}

/** Messages as server-sent events. */
export class EventStream implements MessageStream {
  readonly #stream: ResponseStream;

  constructor(stream: ResponseStream) {
    this.#stream = stream;
  }

  write({ parts, eventId }: SentMessage): boolean {
    return this.#stream.write(eventFrame(parts, eventId));
  }

  prime(eventId: string): void {
    this.#stream.write(primingFrame(eventId, RETRY_MS));
  }

  keepAlive(): void {
    this.#stream.write(KEEP_ALIVE);
  }

  onDrain(listener: () => void): void {
    this.#stream.onDrain(listener);
  }

  end(): void {
    this.#stream.end();
  }

  get pendingBytes(): number {
    return this.#stream.pendingBytes;
  }
}

const RETRY_MS = 1000; // how long a client waits before it reconnects
