import type { Caller } from '../../contract/caller.ts';
import type { Log } from '../../extension/plugin.ts';
import type { RequestControl, ResponseHead } from '../../http1/http-client.ts';
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

/** The transport before streamable HTTP: one GET stream for received messages, POSTs for sent ones (2024-11-05). */
export class SseTransport implements Transport {
  readonly closingCancels = false;
  readonly stateful = true;
  readonly #target: HttpTarget;
  readonly #sink: TransportSink;
  readonly #limits: Limits;
  readonly #holder: SessionFor;
  readonly #backend: string;
  readonly #log: Log;
  readonly #bytes: ByteBudget;
  #malformed = 0;
  #stream: Stream | undefined;
  #path: string | undefined;
  #version: string | undefined;
  #closed = false;

  constructor(
    target: HttpTarget,
    sink: TransportSink,
    limits: Limits,
    holder: SessionFor,
    log: Log,
    bytes: ByteBudget,
  ) {
    this.#bytes = bytes;
    this.#target = target;
    this.#sink = sink;
    this.#limits = limits;
    this.#holder = holder;
    this.#log = log;
    this.#backend = target.backend.name;
  }

  /** Opens the stream and waits for the endpoint event. @throws ConnectionFailure · the reason of the signal */
  async open(signal: AbortSignal): Promise<void> {
    const opened = new Promise<void>((resolve, reject) => {
      const stream = new Stream(this.#backend, this.#limits.frameBytes, this.#bytes, {
        event: (event) => {
          if (event.name !== 'endpoint') return this.#hear(event);
          this.#path = this.#target.pathWithin(event.data.toString('utf8').trim());
          if (this.#path !== undefined) return resolve();
          reject(new ConnectionFailure(this.#backend, 'protocol', 'sent an endpoint of another origin'));
        },
        ended: (cause) => {
          reject(cause);
          if (!this.#closed) this.#sink.lost(cause);
        },
      });
      this.#stream = stream;
      const headers = { accept: 'text/event-stream' };
      const request = { method: 'GET', headers, caller: this.#holder.caller, purpose: 'session', signal } as const;
      this.#target.send(request, stream, reject);
    });
    try {
      if ((await within(this.#limits.helloMs, signal, opened)) !== LATE) return;
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
        return reject(
          new ConnectionFailure(this.#backend, 'closed', 'has closed its event stream', {
            notRun: true,
            connectionLost: true,
          }),
        );
      }
      const headers: Record<string, string> = { 'content-type': 'application/json' };
      if (this.#version !== undefined) headers['mcp-protocol-version'] = this.#version;
      const request = {
        method: 'POST',
        headers,
        body,
        caller: caller ?? this.#holder.caller,
        purpose: 'call',
        signal: NEVER,
        path: this.#path,
      } as const;
      this.#target.send(request, new PostStatusReader(this.#backend, this.#limits.helloMs, resolve, reject), reject);
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
      this.#sink.hear(event.data, undefined);
    } catch {
      // One invalid event must not end the calls of the whole session; the first and every power of ten are logged.
      if (!Number.isInteger(Math.log10(++this.#malformed))) return;
      const fields = { backend: this.#backend, malformed: this.#malformed };
      this.#log.warn('backend sent events that are not MCP messages; skipped', fields);
    }
  }
}

interface StreamEvents {
  event(event: SseEvent): void;
  ended(cause: ConnectionFailure): void;
}

/** The GET stream. */
class Stream implements BackendReader {
  readonly #backend: string;
  readonly #maxBytes: number;
  readonly #events: StreamEvents;
  readonly #frames: SseFrames;
  readonly #reading: HeldReading;
  flow: RequestControl | undefined;
  #refused = 0;
  #stopped = false;

  constructor(backend: string, maxBytes: number, bytes: ByteBudget, events: StreamEvents) {
    this.#backend = backend;
    this.#maxBytes = maxBytes;
    this.#events = events;
    this.#frames = new SseFrames(maxBytes, (event) => events.event(event));
    this.#reading = new HeldReading(heldOfBackend({ bytes, backend }), () => {
      this.#end(new ConnectionFailure(backend, 'busy', 'sent an event that has no space in memory', SPENT));
      this.flow?.abort(WITHDRAWN);
    });
  }

  stop(): void {
    this.#stopped = true;
    this.flow?.abort(WITHDRAWN);
  }

  get isWithdrawn(): boolean {
    return this.#stopped;
  }

  answered(_: RequestControl, head: ResponseHead): void {
    const isStream = mediaType(head.contentType) === STREAM_TYPE;
    if (head.status !== 200 || !isStream) this.#refused = head.status;
  }

  received(flow: RequestControl, chunk: Buffer): void {
    if (this.#refused !== 0) return;
    try {
      this.#frames.push(chunk);
      this.#reading.took(chunk.length, this.#frames.pendingBytes, flow);
    } catch (cause) {
      this.#end(this.#unreadable(cause));
      flow.abort(WITHDRAWN);
    }
  }

  ended(): void {
    if (this.#refused !== 0) return this.#end(statusFailure(this.#backend, this.#refused));
    this.#end(socketFailure(this.#backend, new Error('stream ended'), true, true));
  }

  failed(error: Error, isSent: boolean): void {
    this.#end(socketFailure(this.#backend, error, isSent, true));
  }

  #end(cause: ConnectionFailure): void {
    this.#reading.release();
    if (this.#stopped) return;
    this.#stopped = true;
    this.#events.ended(cause);
  }

  #unreadable(cause: unknown): ConnectionFailure {
    const facts = { connectionLost: true } as const;
    if (cause instanceof SseTooLarge)
      return new ConnectionFailure(this.#backend, 'too-large', `sent more than ${this.#maxBytes} bytes`, facts);
    return new ConnectionFailure(this.#backend, 'protocol', 'sent something that is not an MCP message', {
      ...facts,
      cause,
    });
  }
}

const SPENT = { code: 'MEMORY_SPENT', connectionLost: true } as const;

/** The response to one POST: only its status is used, the message arrives on the stream. */
class PostStatusReader implements BackendReader {
  readonly isWithdrawn = false;
  readonly #backend: string;
  readonly #resolve: () => void;
  readonly #reject: (cause: Error) => void;
  readonly #timer: NodeJS.Timeout;
  flow: RequestControl | undefined;
  #status = 0;

  constructor(backend: string, timeoutMs: number, resolve: () => void, reject: (cause: Error) => void) {
    this.#backend = backend;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#timer = setTimeout(() => this.flow?.abort(WITHDRAWN), timeoutMs);
    this.#timer.unref();
  }

  answered(_: RequestControl, { status }: ResponseHead): void {
    this.#status = status;
  }

  received(): void {}

  ended(): void {
    clearTimeout(this.#timer);
    if (this.#status >= 200 && this.#status <= 299) return this.#resolve();
    if (this.#status === 404) {
      return this.#reject(
        new ConnectionFailure(this.#backend, 'session', 'lost the session (HTTP 404)', {
          notRun: true,
          connectionLost: true,
        }),
      );
    }
    this.#reject(statusFailure(this.#backend, this.#status));
  }

  failed(error: Error, isSent: boolean): void {
    clearTimeout(this.#timer);
    this.#reject(socketFailure(this.#backend, error, isSent));
  }
}
