import { ByteCollector, joined } from '../../json/byte-pieces.ts';
import { mediaType } from '../../mcp/headers.ts';
import type { SseFrames } from '../../mcp/sse-frames.ts';
import { type BackOff, backOffMs } from '../../timing/back-off.ts';
import { socketFailure } from '../failure.ts';
import type { Exchange, SessionFor } from '../sessions/backend-session.ts';
import { HeldReading, heldOfBackend, memorySpent } from './held-reading.ts';
import { type BackendReader, MAX_REFUSAL_BYTES, NEVER } from './http-target.ts';
import { framesFor, type HttpTransport, pushFrames, STREAM_TYPE, WITHDRAWN } from './http-transport.ts';

/** Maximum number of reconnects for one broken response stream; the time limit of the request applies too. */
const MAX_RESUMES = 100;
const RETRY: BackOff = { firstMs: 1_000, maxMs: 30_000 };

/** Resumes a broken response stream with GET and `Last-Event-ID`, after a pause (2025-11-25, SEP-1699). */
export function resumeStream(wire: HttpTransport, exchange: Exchange, frames: SseFrames): void {
  let timer: NodeJS.Timeout | undefined;
  let status = 0;
  let attempts = 0;
  const reading = new HeldReading(exchange.asked.held ?? heldOfBackend(wire), () => {
    exchange.fail(memorySpent(wire.backend));
    reader.flow?.abort(WITHDRAWN);
  });
  const giveUp = (cause: Error): void => exchange.fail(socketFailure(wire.backend, cause, true));
  const wait = (): void => {
    frames.restart(); // a part of an event is not counted any more
    if (attempts++ >= MAX_RESUMES) return giveUp(new Error('the stream was not resumed'));
    timer = setTimeout(open, Math.min(frames.retryMs ?? backOffMs(attempts, RETRY), RETRY.maxMs));
  };
  const open = (): void => {
    if (exchange.settled || wire.closed) return;
    const headers = wire.headers('2025-11-25', STREAM_TYPE);
    headers['last-event-id'] = frames.lastEventId ?? '';
    const { caller, purpose, signal, cancel } = exchange.asked;
    const request = { method: 'GET', headers, caller, purpose, signal: signal ?? cancel?.signal ?? NEVER } as const;
    wire.target.send(request, reader, (cause) => exchange.fail(cause));
  };
  const reader: BackendReader = {
    flow: undefined,
    get isWithdrawn() {
      return exchange.settled;
    },
    answered(_, head) {
      status = head.status;
    },
    received(flow, chunk) {
      if (status !== 200) return;
      const failure = pushFrames(frames, chunk, wire);
      if (failure !== undefined) exchange.fail(failure);
      if (exchange.settled) flow.abort(WITHDRAWN);
      else reading.took(chunk.length, frames.pendingBytes, flow);
    },
    ended() {
      reading.release();
      if (exchange.settled) return;
      if (status === 200 || status >= 500) return wait();
      giveUp(new Error(`the stream was not resumed: HTTP ${status}`));
    },
    failed() {
      reading.release();
      if (!exchange.settled) wait();
    },
  };
  exchange.abandon = () => {
    clearTimeout(timer);
    reader.flow?.abort(WITHDRAWN);
  };
  wait();
}

/** The stream for messages outside requests of a legacy server: GET, kept open, resumed after a break. */
export interface ServerChannel {
  open(): void;
  close(): void;
}

export function serverChannel(wire: HttpTransport, holder: SessionFor): ServerChannel {
  let timer: NodeJS.Timeout | undefined;
  let status = 0;
  let type = '';
  let failures = 0;
  let refusal = new ByteCollector();
  const frames = framesFor(wire, undefined);
  const reading = new HeldReading(heldOfBackend(wire), () => reader.flow?.abort(memorySpent(wire.backend)));
  const open = (): void => {
    if (wire.closed) return;
    status = 0;
    refusal = new ByteCollector();
    const headers = wire.headers('2025-11-25', STREAM_TYPE);
    const { lastEventId } = frames;
    if (lastEventId !== undefined) headers['last-event-id'] = lastEventId;
    const request = { method: 'GET', headers, caller: holder.caller, purpose: 'session', signal: NEVER } as const;
    wire.target.send(request, reader, again);
  };
  const again = (): void => {
    if (wire.closed) return;
    frames.restart(); // a part of an event is not counted any more
    const backOff = backOffMs(++failures, RETRY);
    // The server sets the retry time of a stream that it closed; the delay grows while it is unavailable.
    const ms = failures === 1 ? Math.max(frames.retryMs ?? backOff, RETRY_LEAST_MS) : backOff;
    timer = setTimeout(open, Math.min(ms, RETRY.maxMs));
    timer.unref();
  };
  const reader: BackendReader = {
    flow: undefined,
    get isWithdrawn() {
      return wire.closed;
    },
    answered(_, head) {
      status = head.status;
      type = mediaType(head.contentType);
    },
    received(flow, chunk) {
      if (status !== 200 || type !== STREAM_TYPE) {
        if (refusal.bytes + chunk.length <= MAX_REFUSAL_BYTES) refusal.add(chunk);
        return;
      }
      failures = 0;
      const failure = pushFrames(frames, chunk, wire);
      if (failure !== undefined) flow.abort(failure);
      else reading.took(chunk.length, frames.pendingBytes, flow);
    },
    ended() {
      reading.release();
      if (wire.closed) return;
      if (wire.isSessionLoss(status, joined(refusal))) return wire.sink.lost(wire.sessionLost(status));
      // Credentials are made anew for each attempt, so a later one may succeed after 401 and 403.
      if (type === STREAM_TYPE || TRANSIENT.has(status) || status >= 500) again();
      // Any other status, mostly 405, means that the server offers no such stream.
    },
    failed() {
      reading.release();
      again();
    },
  };
  return {
    open,
    close() {
      clearTimeout(timer);
      reader.flow?.abort(WITHDRAWN);
    },
  };
}

const RETRY_LEAST_MS = 50; // a server that sets 0 must not keep the gateway busy
const TRANSIENT: ReadonlySet<number> = new Set([401, 403, 408, 429]);
