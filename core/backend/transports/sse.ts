import type { Caller } from '../../contract/caller.ts';
import type { Log } from '../../extension/plugin.ts';
import type { Limits } from '../../limits.ts';
import type { ByteBudget } from '../../mcp/byte-budget.ts';
import { mediaType } from '../../mcp/headers.ts';
import { type SseEvent, SseFrames, SseTooLarge } from '../../mcp/sse-frames.ts';
import { LATE, within } from '../../timing/within.ts';
import { ConnectionFailure, socketFailure } from '../failure.ts';
import type { Exchange, SessionFor, Transport, TransportSink } from '../sessions/backend-session.ts';
import { HeldReading, heldOfBackend } from './held-reading.ts';
import { type BackendReader, type HttpTarget, NEVER, statusFailure } from './http-target.ts';
import { STREAM_TYPE, WITHDRAWN } from './http-transport.ts';

/** What the transport is made with. */
interface SseParts {
  readonly target: HttpTarget;
  readonly sink: TransportSink;
  readonly limits: Limits;
  readonly holder: SessionFor;
  readonly log: Log;
  readonly bytes: ByteBudget;
}

/** The transport before streamable HTTP: one GET stream for received messages, POSTs for sent ones (2024-11-05). */
export class SseTransport implements Transport {
  readonly closingCancels = false;
  readonly stateful = true;
  readonly #parts: SseParts;
  readonly #backend: string;
  #malformed = 0;
  #stream: Stream | undefined;
  #path: string | undefined;
  #version: string | undefined;
  #closed = false;

  constructor(parts: SseParts) {
    this.#parts = parts;
    this.#backend = parts.target.backend.name;
  }

  /** Opens the stream and waits for the endpoint event. @throws ConnectionFailure · the reason of the signal */
  async open(signal: AbortSignal): Promise<void> {
    const opened = new Promise<void>((resolve, reject) => {
      const stream = streamReader(this.#backend, this.#parts.limits.frameBytes, this.#parts.bytes, {
        event: (event) => {
          if (event.name !== 'endpoint') return this.#hear(event);
          this.#path = this.#parts.target.pathWithin(event.data.toString('utf8').trim());
          if (this.#path !== undefined) return resolve();
          reject(new ConnectionFailure(this.#backend, 'protocol', 'sent an endpoint of another origin'));
        },
        ended: (cause) => {
          reject(cause);
          if (!this.#closed) this.#parts.sink.lost(cause);
        },
      });
      this.#stream = stream;
      const headers = { accept: 'text/event-stream' };
      const request = {
        method: 'GET',
        headers,
        caller: this.#parts.holder.caller,
        purpose: 'session',
        signal,
      } as const;
      this.#parts.target.send(request, stream, reject);
    });
    try {
      if ((await within(this.#parts.limits.helloMs, signal, opened)) !== LATE) return;
      throw new ConnectionFailure(this.#backend, 'timeout', 'did not open its event stream in time');
    } catch (cause) {
      this.#stream?.stop();
      throw cause;
    }
  }

  send(body: Buffer, exchange: Exchange): void {
    this.post(body, exchange.asked.method, exchange.asked.caller).catch((cause: unknown) => exchange.fail(cause));
  }

  post(body: Buffer, _method: string, caller: Caller | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#path === undefined || this.#closed) {
        return reject(new ConnectionFailure(this.#backend, 'closed', 'has closed its event stream', NOT_SENT));
      }
      const headers: Record<string, string> = { 'content-type': 'application/json' };
      if (this.#version !== undefined) headers['mcp-protocol-version'] = this.#version;
      const request = {
        method: 'POST',
        headers,
        body,
        caller: caller ?? this.#parts.holder.caller,
        purpose: 'call',
        signal: NEVER,
        path: this.#path,
      } as const;
      this.#parts.target.send(request, postReader(this.#backend, this.#parts.limits.helloMs, resolve, reject), reject);
    });
  }

  agreed(_era: unknown, protocolVersion: string): void {
    this.#version = protocolVersion;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#stream?.stop();
  }

  #hear(event: SseEvent): void {
    if (event.name !== 'message' || event.data.length === 0) return;
    try {
      this.#parts.sink.hear(event.data, undefined);
    } catch {
      // One invalid event must not end the calls of the whole session; the first and every power of ten are logged.
      if (!Number.isInteger(Math.log10(++this.#malformed))) return;
      const fields = { backend: this.#backend, malformed: this.#malformed };
      this.#parts.log.warn('backend sent events that are not MCP messages; skipped', fields);
    }
  }
}

/** The GET stream. */
interface Stream extends BackendReader {
  stop(): void;
}

interface StreamEvents {
  event(event: SseEvent): void;
  ended(cause: ConnectionFailure): void;
}

function streamReader(backend: string, maxBytes: number, bytes: ByteBudget, events: StreamEvents): Stream {
  let refused = 0;
  let isStopped = false;
  const frames = new SseFrames(maxBytes, events.event);
  const end = (cause: ConnectionFailure): void => {
    reading.release();
    if (isStopped) return;
    isStopped = true;
    events.ended(cause);
  };
  const reading = new HeldReading(heldOfBackend({ bytes, backend }), () => {
    const facts = { code: 'MEMORY_SPENT', connectionLost: true } as const;
    end(new ConnectionFailure(backend, 'busy', 'sent an event that has no space in memory', facts));
    reader.flow?.abort(WITHDRAWN);
  });
  const unreadable = (cause: unknown): ConnectionFailure => {
    const facts = { connectionLost: true };
    return cause instanceof SseTooLarge
      ? new ConnectionFailure(backend, 'too-large', `sent more than ${maxBytes} bytes`, facts)
      : new ConnectionFailure(backend, 'protocol', 'sent something that is not an MCP message', { ...facts, cause });
  };
  const reader: Stream = {
    flow: undefined,
    get isWithdrawn() {
      return isStopped;
    },
    stop() {
      isStopped = true;
      reader.flow?.abort(WITHDRAWN);
    },
    answered(_, { status, contentType }) {
      if (status !== 200 || mediaType(contentType) !== STREAM_TYPE) refused = status;
    },
    received(flow, chunk) {
      if (refused !== 0) return;
      try {
        frames.push(chunk);
        reading.took(chunk.length, frames.pendingBytes, flow);
      } catch (cause) {
        end(unreadable(cause));
        flow.abort(WITHDRAWN);
      }
    },
    ended() {
      if (refused !== 0) return end(statusFailure(backend, refused));
      end(socketFailure(backend, new Error('stream ended'), true, true));
    },
    failed: (error, isSent) => end(socketFailure(backend, error, isSent, true)),
  };
  return reader;
}

/** Reads the response to one POST: only its status is used, the message arrives on the stream. */
function postReader(
  backend: string,
  timeoutMs: number,
  resolve: () => void,
  reject: (cause: Error) => void,
): BackendReader {
  let status = 0;
  const reader: BackendReader = {
    flow: undefined,
    isWithdrawn: false,
    answered(_, head) {
      status = head.status;
    },
    received() {},
    ended() {
      clearTimeout(timer);
      if (status >= 200 && status <= 299) return resolve();
      if (status !== 404) return reject(statusFailure(backend, status));
      reject(new ConnectionFailure(backend, 'session', 'lost the session (HTTP 404)', NOT_SENT));
    },
    failed(error, isSent) {
      clearTimeout(timer);
      reject(socketFailure(backend, error, isSent));
    },
  };
  const timer = setTimeout(() => reader.flow?.abort(WITHDRAWN), timeoutMs);
  timer.unref();
  return reader;
}

const NOT_SENT = { notRun: true, connectionLost: true };
