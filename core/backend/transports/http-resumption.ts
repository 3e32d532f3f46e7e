import type { RequestControl, ResponseHead } from '../../http1/http-client.ts';
import type { SseFrames } from '../../mcp/sse-frames.ts';
import { type BackOff, backOffMs } from '../../timing/back-off.ts';
import { socketFailure } from '../failure.ts';
import type { Exchange } from '../sessions/backend-session.ts';
import { HeldReading, heldOfBackend, memorySpent } from './held-reading.ts';
import { pushFrames, STREAM_TYPE, WITHDRAWN } from './http-body.ts';
import { type BackendReader, NEVER } from './http-target.ts';
import type { HttpTransport } from './http-transport.ts';

/** Maximum number of reconnects for one broken response stream; the time limit of the request applies too. */
const MAX_RESUMES = 100;
export const RETRY: BackOff = { firstMs: 1_000, maxMs: 30_000 };

/** Resumes a broken response stream with GET and `Last-Event-ID` (2025-11-25, SEP-1699). */
export class Resumption implements BackendReader {
  readonly #wire: HttpTransport;
  readonly #exchange: Exchange;
  readonly #frames: SseFrames;
  readonly #reading: HeldReading;
  flow: RequestControl | undefined;
  #timer: NodeJS.Timeout | undefined;
  #status = 0;
  #attempts = 0;

  constructor(wire: HttpTransport, exchange: Exchange, frames: SseFrames) {
    this.#wire = wire;
    this.#exchange = exchange;
    this.#frames = frames;
    this.#reading = new HeldReading(exchange.asked.held ?? heldOfBackend(wire), () => {
      exchange.fail(memorySpent(wire.backend));
      this.flow?.abort(WITHDRAWN);
    });
    exchange.abandon = () => {
      clearTimeout(this.#timer);
      this.flow?.abort(WITHDRAWN);
    };
  }

  wait(): void {
    this.#frames.restart(); // a part of an event is not counted any more
    if (this.#attempts++ >= MAX_RESUMES) return this.#giveUp(new Error('the stream was not resumed'));
    const ms = this.#frames.retryMs ?? backOffMs(this.#attempts, RETRY);
    this.#timer = setTimeout(() => this.#open(), Math.min(ms, RETRY.maxMs));
  }

  #open(): void {
    if (this.#exchange.settled || this.#wire.closed) return;
    const headers = this.#wire.headers('2025-11-25', STREAM_TYPE);
    headers['last-event-id'] = this.#frames.lastEventId ?? '';
    const { caller, purpose, signal, cancel } = this.#exchange.asked;
    const request = { method: 'GET', headers, caller, purpose, signal: signal ?? cancel?.signal ?? NEVER } as const;
    this.#wire.target.send(request, this, (cause) => this.#exchange.fail(cause));
  }

  get isWithdrawn(): boolean {
    return this.#exchange.settled;
  }

  answered(_: RequestControl, { status }: ResponseHead): void {
    this.#status = status;
  }

  received(flow: RequestControl, chunk: Buffer): void {
    if (this.#status !== 200) return;
    const failure = pushFrames(this.#frames, chunk, this.#wire);
    if (failure !== undefined) this.#exchange.fail(failure);
    if (this.#exchange.settled) flow.abort(WITHDRAWN);
    else this.#reading.took(chunk.length, this.#frames.pendingBytes, flow);
  }

  ended(): void {
    this.#reading.release();
    if (this.#exchange.settled) return;
    if (this.#status === 200 || this.#status >= 500) return this.wait();
    this.#giveUp(new Error(`the stream was not resumed: HTTP ${this.#status}`));
  }

  failed(): void {
    this.#reading.release();
    if (!this.#exchange.settled) this.wait();
  }

  #giveUp(cause: Error): void {
    this.#exchange.fail(socketFailure(this.#wire.backend, cause, true));
  }
}
