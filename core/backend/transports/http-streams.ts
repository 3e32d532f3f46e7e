import type { RequestControl, ResponseHead } from '../../http1/http-client.ts';
import { ByteCollector, joined } from '../../json/byte-pieces.ts';
import { mediaType } from '../../mcp/headers.ts';
import type { SseFrames } from '../../mcp/sse-frames.ts';
import { type BackOff, backOffMs } from '../../timing/back-off.ts';
import { socketFailure } from '../failure.ts';
import type { Exchange, SessionFor } from '../sessions/backend-session.ts';
import { HeldReading, heldOfBackend, memorySpent } from './held-reading.ts';
import { type BackendReader, MAX_REFUSAL_BYTES, NEVER } from './http-target.ts';
import type { HttpTransport } from './http-transport.ts';
import { framesFor, pushFrames, STREAM_TYPE, WITHDRAWN } from './http-transport.ts';

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

/** The stream for messages outside requests of a legacy server: GET, kept open, resumed after a break. */
export class ServerChannel implements BackendReader {
  readonly #wire: HttpTransport;
  readonly #holder: SessionFor;
  readonly #frames: SseFrames;
  readonly #reading: HeldReading;
  flow: RequestControl | undefined;
  #timer: NodeJS.Timeout | undefined;
  #status = 0;
  #type = '';
  #failures = 0;
  #refusal = new ByteCollector();

  constructor(wire: HttpTransport, holder: SessionFor) {
    this.#wire = wire;
    this.#holder = holder;
    this.#frames = framesFor(wire, undefined);
    this.#reading = new HeldReading(heldOfBackend(wire), () => this.flow?.abort(memorySpent(wire.backend)));
  }

  open(): void {
    if (this.#wire.closed) return;
    this.#status = 0;
    this.#refusal = new ByteCollector();
    const headers = this.#wire.headers('2025-11-25', STREAM_TYPE);
    const { lastEventId } = this.#frames;
    if (lastEventId !== undefined) headers['last-event-id'] = lastEventId;
    const request = { method: 'GET', headers, caller: this.#holder.caller, purpose: 'session', signal: NEVER } as const;
    this.#wire.target.send(request, this, () => this.#again());
  }

  close(): void {
    clearTimeout(this.#timer);
    this.flow?.abort(WITHDRAWN);
  }

  get isWithdrawn(): boolean {
    return this.#wire.closed;
  }

  answered(_: RequestControl, head: ResponseHead): void {
    this.#status = head.status;
    this.#type = mediaType(head.contentType);
  }

  received(flow: RequestControl, chunk: Buffer): void {
    if (this.#status !== 200 || this.#type !== STREAM_TYPE) {
      if (this.#refusal.bytes + chunk.length <= MAX_REFUSAL_BYTES) this.#refusal.add(chunk);
      return;
    }
    this.#failures = 0;
    const failure = pushFrames(this.#frames, chunk, this.#wire);
    if (failure !== undefined) flow.abort(failure);
    else this.#reading.took(chunk.length, this.#frames.pendingBytes, flow);
  }

  ended(): void {
    this.#reading.release();
    if (this.#wire.closed) return;
    if (this.#wire.isSessionLoss(this.#status, joined(this.#refusal))) {
      this.#wire.sink.lost(this.#wire.sessionLost(this.#status));
      return;
    }
    // Credentials are made anew for each attempt, so a later one may succeed after 401 and 403.
    const transient = TRANSIENT.has(this.#status) || this.#status >= 500;
    if (this.#type === STREAM_TYPE || transient) this.#again();
    // Any other status, mostly 405, means that the server offers no such stream.
  }

  failed(): void {
    this.#reading.release();
    if (!this.#wire.closed) this.#again();
  }

  #again(): void {
    if (this.#wire.closed) return;
    this.#frames.restart(); // a part of an event is not counted any more
    const backOff = backOffMs(++this.#failures, RETRY);
    // The server sets the retry time of a stream that it closed; the delay grows while it is unavailable.
    const ms = this.#failures === 1 ? Math.max(this.#frames.retryMs ?? backOff, RETRY_LEAST_MS) : backOff;
    this.#timer = setTimeout(() => this.open(), Math.min(ms, RETRY.maxMs));
    this.#timer.unref();
  }
}

const RETRY_LEAST_MS = 50; // a server that sets 0 must not keep the gateway busy
const TRANSIENT: ReadonlySet<number> = new Set([401, 403, 408, 429]);
