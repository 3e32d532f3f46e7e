import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Inbound, Responder, ResponseHeaders, ResponseStream, StreamChunk } from '../../contract/inbound.ts';
import { byteLength, joinParts, type Part } from '../../json/byte-pieces.ts';
import type { HeldBytes } from '../../mcp/byte-budget.ts';
import { Cancel } from '../../timing/cancel.ts';
import { ambiguityOf } from './check-head.ts';
import type { ClientAddress } from './client-address.ts';
import { UnsentBytes } from './unsent-bytes.ts';

/** What a framework did with a request before the gateway. */
export interface HandleOptions {
  /**
   * The body, when a parser of the framework has read it: its bytes, its text, or the JSON value (bytes are best: a value
   * has lost large integers and duplicate members). `undefined`: the gateway reads it from the request.
   */
  readonly body?: unknown;
  /**
   * The path prefix that the framework removed from `request.url`; the path of the endpoint includes it.
   * Default: `request.baseUrl`, which Express sets.
   */
  readonly mountPath?: string | undefined;
}

/** Adapts a Node request. The abort signal is created on first use, because most requests never need one. */
export class NodeInbound implements Inbound {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly remoteAddress: string | undefined;
  readonly held: HeldBytes;
  /** See {@link ambiguityOf}. */
  readonly ambiguity: string | undefined;
  readonly #responder: Responder;
  readonly #target: string;
  #cancel: Cancel | undefined;

  /** `mountPath`: see {@link HandleOptions}. */
  constructor(
    request: IncomingMessage,
    responder: Responder,
    held: HeldBytes,
    mountPath = baseUrlOf(request),
    clientAddress?: ClientAddress,
  ) {
    this.#responder = responder;
    this.held = held;
    this.method = request.method ?? 'GET';
    this.#target = request.url ?? '/';
    const path = pathOf(this.#target);
    this.path = mountPath === '' ? path : mounted(mountPath, path);
    this.headers = headersOf(request);
    this.ambiguity = ambiguityOf(request);
    const { remoteAddress } = request.socket; // read now, because Node does not keep the address of a closed socket
    this.remoteAddress =
      clientAddress === undefined ? remoteAddress : clientAddress(remoteAddress, this.headers['x-forwarded-for']);
  }

  get query(): string | undefined {
    const at = this.#target.indexOf('?');
    return at === -1 ? undefined : this.#target.slice(at + 1);
  }

  get cancel(): Cancel {
    if (this.#cancel === undefined) {
      const cancel = new Cancel();
      this.#responder.onDisconnect(() => cancel.abort(new Error('the client closed the connection')));
      this.#cancel = cancel;
    }
    return this.#cancel;
  }

  get signal(): AbortSignal {
    return this.cancel.signal;
  }
}

/** The mount path that Express sets. */
function baseUrlOf(request: IncomingMessage & { readonly baseUrl?: unknown }): string {
  return typeof request.baseUrl === 'string' ? request.baseUrl : '';
}

/** The whole path; `/mcp` with `/` is `/mcp`. */
export function mounted(mountPath: string, path: string): string {
  const base = mountPath.endsWith('/') ? mountPath.slice(0, -1) : mountPath;
  return path === '/' && base !== '' ? base : base + path;
}

/** The path of a request target, without its query. */
export function pathOf(target: string): string {
  const query = target.indexOf('?');
  return query === -1 ? target : target.slice(0, query);
}

/** In Node only `set-cookie` can be a list, and clients do not send it. */
function headersOf(request: IncomingMessage): Readonly<Record<string, string | undefined>> {
  return request.headers as Readonly<Record<string, string | undefined>>;
}

/** Adapts a Node response. */
export class NodeResponder implements Responder {
  readonly #response: ServerResponse;
  readonly #held: HeldBytes;
  readonly #sendTimeoutMs: number;
  #unsent: UnsentBytes | undefined;
  #isAnswered = false;
  #gone: (() => void)[] | undefined;

  /** A client that reads nothing for `sendTimeoutMs` is disconnected. */
  constructor(response: ServerResponse, held: HeldBytes, sendTimeoutMs: number) {
    this.#response = response;
    this.#held = held;
    this.#sendTimeoutMs = sendTimeoutMs;
  }

  served(): void {
    if (this.#response.writableLength > 0) this.unsent.count();
    this.#held.release();
  }

  /** What the client has not read. Made when there is something. */
  get unsent(): UnsentBytes {
    this.#unsent ??= new UnsentBytes(this.#response, this.#held.beside(), this.#sendTimeoutMs);
    return this.#unsent;
  }

  send(status: number, headers: ResponseHeaders, body?: Buffer | string | readonly Buffer[]): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    const response = this.#response;
    const whole = Array.isArray(body) ? joinSmall(body) : (body as Buffer | string | undefined);
    if (!Array.isArray(whole)) {
      const length = typeof whole === 'string' ? Buffer.byteLength(whole) : (whole?.length ?? 0);
      response.writeHead(status, { ...headers, 'content-length': length });
      // Latin-1 maps bytes one to one, and Node joins the head with a string: one write instead of two.
      if (Buffer.isBuffer(whole) && length <= JOIN_BYTES) response.end(whole.toString('latin1'), 'latin1');
      else response.end(whole);
      return;
    }
    response.writeHead(status, { ...headers, 'content-length': byteLength(whole) });
    response.cork();
    for (const part of whole) response.write(part);
    response.end();
    response.uncork();
  }

  open(status: number, headers: Readonly<Record<string, string>>): ResponseStream {
    if (this.#isAnswered) return CLOSED_STREAM;
    this.#isAnswered = true;
    return new NodeStream(this.#response, this, status, headers);
  }

  onDisconnect(listener: () => void): void {
    const response = this.#response;
    if (response.closed || response.destroyed) {
      if (!response.writableFinished) listener();
      return;
    }
    if (this.#gone !== undefined) {
      this.#gone.push(listener);
      return;
    }
    const gone = [listener];
    this.#gone = gone;
    response.on('close', () => {
      if (!response.writableFinished) for (const each of gone) each();
    });
  }
}

/** An event stream on a Node response. Everything written in one turn of the event loop is sent in one piece. */
class NodeStream implements ResponseStream {
  readonly #response: ServerResponse;
  readonly #responder: NodeResponder;
  #isGathering = false;
  /** Written in this turn. */
  #parts: Part[] = [];
  #partBytes = 0;
  /** The client has not read everything. */
  #isBehind = false;

  constructor(
    response: ServerResponse,
    responder: NodeResponder,
    status: number,
    headers: Readonly<Record<string, string>>,
  ) {
    this.#response = response;
    this.#responder = responder;
    this.#gather();
    response.writeHead(status, headers);
    response.flushHeaders(); // together with what is written in this turn, or alone
  }

  write(chunk: StreamChunk): boolean {
    if (this.#isBehind && !this.#responder.unsent.mayAdd(lengthOf(chunk))) return false;
    this.#gather();
    if (typeof chunk === 'string' || Buffer.isBuffer(chunk)) this.#add(chunk);
    else for (const piece of chunk) this.#add(piece);
    return !this.#response.writableNeedDrain;
  }

  #add(piece: Part): void {
    if (piece.length >= JOIN_BYTES) {
      this.#send();
      this.#response.write(piece); // joining would copy it
      return;
    }
    this.#parts.push(piece);
    this.#partBytes += piece.length;
    if (this.#partBytes >= JOIN_BYTES) this.#send();
  }

  /** Gives the response what was written in this turn, in one piece: each costs a chunk and some buffers. */
  #send(): void {
    const parts = this.#take();
    if (parts !== undefined) this.#response.write(parts);
  }

  #take(): Part | undefined {
    const [first, ...others] = this.#parts;
    if (first === undefined) return undefined;
    const whole = others.length === 0 ? first : joinParts(this.#parts);
    this.#parts = [];
    this.#partBytes = 0;
    return whole;
  }

  onDrain(listener: () => void): void {
    this.#response.on('drain', listener);
  }

  end(): void {
    this.#isGathering = false; // `end` sends everything
    this.#response.end(this.#take());
    this.#count();
  }

  get pendingBytes(): number {
    return this.#response.writableLength + this.#partBytes;
  }

  letGo(): void {
    if (!this.#isGathering) return;
    this.#isGathering = false;
    this.#send();
    this.#response.socket?.uncork();
    this.#count();
  }

  #count(): void {
    this.#isBehind = this.#response.writableLength > 0;
    if (this.#isBehind) this.#responder.unsent.count();
  }

  #gather(): void {
    if (this.#isGathering) return;
    this.#isGathering = true;
    // The socket, not the response: Node 24 ends a corked response before its last chunk. Without one it waits for earlier responses.
    this.#response.socket?.cork();
    setImmediate(flush, this);
  }
}

function flush(stream: NodeStream): void {
  stream.letGo();
}

/** Joins small responses into one buffer; large ones are sent as they are, in one call. */
function joinSmall(parts: readonly Buffer[]): Buffer | readonly Buffer[] {
  const bytes = byteLength(parts);
  return bytes <= JOIN_BYTES ? Buffer.concat(parts, bytes) : parts;
}

const JOIN_BYTES = 32_768; // for less, copying is cheaper than several writes

/** Length of what is written to a stream. */
export function lengthOf(chunk: StreamChunk): number {
  return typeof chunk === 'string' || Buffer.isBuffer(chunk) ? chunk.length : byteLength(chunk);
}

/** The stream of a request that was already answered. */
export const CLOSED_STREAM: ResponseStream = { write: () => false, onDrain: () => {}, end: () => {}, pendingBytes: 0 };
