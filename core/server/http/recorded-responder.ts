import type { Inbound, Responder, ResponseHeaders, ResponseStream, StreamChunk } from '../../contract/inbound.ts';
import type { RequestListener, RequestRecord } from '../../contract/request-record.ts';
import { lengthOf } from './node-adapter.ts';
import { RequestRecorder } from './request-recorder.ts';

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
    return new WatchedStream(stream, this);
  }

  served(): void {
    this.#responder.served?.();
  }

  onDisconnect(listener: () => void): void {
    this.#responder.onDisconnect(listener);
  }
}

class WatchedStream implements ResponseStream {
  readonly #stream: ResponseStream;
  readonly #recorder: RequestRecorder;

  constructor(stream: ResponseStream, recorder: RequestRecorder) {
    this.#stream = stream;
    this.#recorder = recorder;
  }

  write(chunk: StreamChunk): boolean {
    this.#recorder.wrote(lengthOf(chunk));
    return this.#stream.write(chunk);
  }

  onDrain(listener: () => void): void {
    this.#stream.onDrain(listener);
  }

  end(): void {
    this.#stream.end();
    this.#recorder.ended();
  }

  get pendingBytes(): number {
    return this.#stream.pendingBytes;
  }
}
