import type { Socket } from 'node:net';
import { BodyMemory } from './body-memory.ts';
import { ChunkedBody } from './chunked-body.ts';
import { decodingReader } from './decoded-body.ts';
import { dial } from './dial.ts';
import type { RequestControl, ResponseReader } from './http-client.ts';
import type { Origin } from './origin.ts';
import { CHUNKED, MalformedResponse, type ParsedHead, readResponseHead, UNTIL_CLOSE } from './response-head.ts';

/** Maximum size of a response head; Node's servers use the same limit. */
const MAX_HEAD_BYTES = 32_768;
/** Maximum number of interim responses (1xx). */
const MAX_INTERIM = 16;
/** A body up to this size is copied behind its head, which saves a write. */
const JOIN_BYTES = 16_384;

const HEAD_END = Buffer.from('\r\n\r\n');

/** The owner of connections. */
export interface ConnectionOwner {
  readonly origin: Origin;
  readonly connectTimeoutMs: number;
  readonly keptHeaders: ReadonlySet<string> | undefined;
  /** The TLS session to begin with. */
  session: Buffer | undefined;
  /** The connection can carry the next request. Called before the reader gets the end. */
  free(connection: Connection): void;
  /** The connection is closed. */
  gone(connection: Connection): void;
}

/** One HTTP/1.1 connection (RFC 9112), one request at a time. */
export class Connection {
  /** By `performance.now()`: the server may close it from then on. Set by the owner. */
  idleUntilMs = 0;
  /** Idle timeout that the server announced. */
  idleMs: number | undefined;
  readonly #owner: ConnectionOwner;
  readonly #socket: Socket;
  #connecting: NodeJS.Timeout | undefined;
  #ready = false;
  #current: ActiveRequest | undefined;
  #head: ParsedHead | undefined;
  #partial: Buffer | undefined;
  #left = 0;
  #memory: BodyMemory | undefined;
  #chunks: ChunkedBody | undefined;
  #interim = 0;
  #paused = false;
  #error: Error | undefined;

  constructor(owner: ConnectionOwner) {
    this.#owner = owner;
    const { socket, readyEvent } = dial(owner.origin, owner.session, (bytes) => this.#read(bytes));
    this.#socket = socket;
    socket.once(readyEvent, () => this.#connected());
    socket.on('session', (session: Buffer) => {
      owner.session = session;
    });
    socket.on('error', (error) => {
      this.#error ??= error;
    });
    socket.once('close', () => this.#closed());
    this.#connecting = setTimeout(() => this.cut(connectTimeout(owner)), owner.connectTimeoutMs);
    this.#connecting.unref();
  }

  get usable(): boolean {
    return this.#error === undefined && this.#socket.writable;
  }

  /** Sends a request with an encoded head; the connection must be free. */
  send(head: string, body: Buffer | undefined, reader: ResponseReader): RequestControl {
    const flow = new ActiveRequest(this, head, body, reader);
    this.#current = flow;
    if (this.#ready) this.#write(flow);
    return flow;
  }

  /** Closes it at once; an active request fails. */
  cut(error: Error): void {
    this.#error ??= error;
    this.#fail(this.#error);
    this.#socket.destroy();
  }

  /** Closes a free connection. */
  close(): void {
    this.#socket.destroy();
  }

  abort(flow: ActiveRequest, reason: Error): void {
    if (this.#current === flow) this.cut(reason);
  }

  pause(flow: ActiveRequest): void {
    if (this.#current === flow) this.#steer(true);
  }

  resume(flow: ActiveRequest): void {
    if (this.#current === flow) this.#steer(false);
  }

  #steer(paused: boolean): void {
    this.#paused = paused;
    if (paused) this.#socket.pause();
    else this.#socket.resume();
  }

  #connected(): void {
    clearTimeout(this.#connecting);
    this.#ready = true;
    if (this.#current !== undefined) this.#write(this.#current);
  }

  #write(flow: ActiveRequest): void {
    flow.isSent = true;
    const { head, body } = flow;
    const socket = this.#socket;
    if (body === undefined) socket.write(head, 'latin1');
    else if (body.length <= JOIN_BYTES) socket.write(head + body.toString('latin1'), 'latin1');
    else {
      socket.cork();
      socket.write(head, 'latin1');
      socket.write(body);
      socket.uncork();
    }
  }

  #read(bytes: Buffer): void {
    try {
      const rest = this.#take(bytes);
      if (rest > 0) throw new MalformedResponse('the server sent data without a request');
    } catch (cause) {
      // Rethrowing would end the process, since Node calls this from its event loop.
      this.cut(cause instanceof Error ? cause : new Error(String(cause)));
    }
  }

  /** Reads bytes and returns how many are left over. @throws MalformedResponse */
  #take(bytes: Buffer): number {
    let at = 0;
    while (this.#current !== undefined && at < bytes.length) {
      at = this.#head === undefined ? this.#takeHead(bytes, at) : this.#takeBody(this.#head, bytes, at);
    }
    return this.#error === undefined ? bytes.length - at : 0;
  }

  #takeHead(given: Buffer, at: number): number {
    const before = this.#partial;
    const known = before?.length ?? 0;
    const bytes = before === undefined ? given.subarray(at) : Buffer.concat([before, given.subarray(at)]);
    // The end of the head may be split between two pieces.
    const end = bytes.indexOf(HEAD_END, Math.max(0, known - HEAD_END.length));
    if (end > MAX_HEAD_BYTES || (end === -1 && bytes.length > MAX_HEAD_BYTES)) {
      throw new MalformedResponse('the response head is too long');
    }
    if (end === -1) {
      this.#partial = before === undefined ? Buffer.from(bytes) : bytes;
      return given.length;
    }
    this.#partial = undefined;
    const next = at + end + HEAD_END.length - known;
    this.#begin(readResponseHead(bytes.subarray(0, end), this.#owner.keptHeaders), next < given.length);
    return next;
  }

  #begin(head: ParsedHead, isMore: boolean): void {
    if (head.status < 200) {
      if (head.status === 101) throw new MalformedResponse('the server switches protocols without a request');
      if (++this.#interim > MAX_INTERIM) throw new MalformedResponse('too many interim responses');
      return;
    }
    this.#head = head;
    this.#left = head.length;
    this.#chunks = head.length === CHUNKED ? new ChunkedBody() : undefined;
    const flow = this.#current as ActiveRequest;
    if (head.contentEncoding !== undefined) flow.reader = decodingReader(head, flow.reader);
    flow.reader.answered(flow, head);
    if (head.length === 0) this.#end(flow, head, isMore);
  }

  #takeBody(head: ParsedHead, bytes: Buffer, at: number): number {
    const flow = this.#current as ActiveRequest;
    if (this.#chunks !== undefined) {
      const chunks = this.#chunks;
      const used = chunks.read(at === 0 ? bytes : bytes.subarray(at), (data) => flow.reader.received(flow, data));
      if (chunks.done) this.#end(flow, head, at + used < bytes.length);
      return at + used;
    }
    const size = head.length === UNTIL_CLOSE ? bytes.length - at : Math.min(this.#left, bytes.length - at);
    this.#memory ??= new BodyMemory();
    flow.reader.received(flow, this.#memory.copy(bytes, at, at + size, this.#left));
    this.#left -= size;
    if (this.#left === 0) this.#end(flow, head, at + size < bytes.length);
    return at + size;
  }

  /** The answer is complete: the connection is free again, or closed, before its reader continues. */
  #end(flow: ActiveRequest, head: ParsedHead, isMore: boolean): void {
    if (this.#current !== flow) return; // its reader has aborted it
    this.#forget();
    // Surplus bytes would be read as the next response, and an unfinished request body as the next request.
    if (head.persistent && !isMore && this.#socket.writableLength === 0) {
      this.idleMs = head.idleMs;
      if (this.#paused) this.#steer(false);
      this.#owner.free(this);
    } else this.#socket.destroy();
    flow.reader.ended();
  }

  #forget(): void {
    this.#current = undefined;
    this.#head = undefined;
    this.#partial = undefined;
    this.#memory = undefined;
    this.#chunks = undefined;
    this.#interim = 0;
  }

  #fail(error: Error): void {
    const flow = this.#current;
    if (flow === undefined) return;
    this.#forget();
    flow.reader.failed(error, flow.isSent);
  }

  #closed(): void {
    clearTimeout(this.#connecting);
    this.#owner.gone(this);
    const flow = this.#current;
    if (flow !== undefined && this.#head?.length === UNTIL_CLOSE && this.#error === undefined) {
      this.#forget();
      flow.reader.ended();
      return;
    }
    this.#fail(this.#error ?? closedEarly());
  }
}

/** Controls one request for its reader; without effect once the connection carries another request. */
class ActiveRequest implements RequestControl {
  readonly head: string;
  readonly body: Buffer | undefined;
  reader: ResponseReader;
  /** A part of it may have been sent. */
  isSent = false;
  readonly #connection: Connection;

  constructor(connection: Connection, head: string, body: Buffer | undefined, reader: ResponseReader) {
    this.#connection = connection;
    this.head = head;
    this.body = body;
    this.reader = reader;
  }

  abort(reason: Error): void {
    this.#connection.abort(this, reason);
  }

  pause(): void {
    this.#connection.pause(this);
  }

  resume(): void {
    this.#connection.resume(this);
  }
}

function closedEarly(): Error {
  return Object.assign(new Error('the server closed the connection'), { code: 'ECONNRESET' });
}

function connectTimeout({ connectTimeoutMs }: ConnectionOwner): Error {
  const sentence = `no connection within ${connectTimeoutMs} ms`;
  return Object.assign(new Error(sentence), { code: 'ETIMEDOUT' });
}
