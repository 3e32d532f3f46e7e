import { isUtf8 } from 'node:buffer';
import type { BackendHello } from '../../contract/backend.ts';
import type { Caller } from '../../contract/caller.ts';
import type { Era } from '../../contract/era.ts';
import type { JsonObject, RawJson } from '../../contract/json.ts';
import type { Log } from '../../extension/plugin.ts';
import { RawJsonError, TooManyMembers } from '../../json/json-errors.ts';
import { RawObject } from '../../json/raw-json.ts';
import type { Limits } from '../../limits.ts';
import { errorOf, idAtEdge, idFrom } from '../../mcp/backend-message.ts';
import { BackendError } from '../../mcp/errors.ts';
import { InFlightMap } from '../../timing/in-flight.ts';
import { ConnectionFailure } from '../failure.ts';
import type { Exchange, OutgoingRequest, SessionEvents, Transport, TransportSink } from './backend-session.ts';
import { type IncomingConnection, IncomingMessages } from './incoming-messages.ts';
import { RequestBodies } from './outgoing-request.ts';
import { PendingRequest } from './pending-request.ts';

const EMPTY_PARAMS = Buffer.from('{}');

/** Members of a result or of params that are read as objects: one pass finds both. */
const READ_THROUGH: ReadonlySet<string> = new Set(['result', 'params']);

/** What a connection is made with. */
export interface JsonRpcConnectionOptions {
  readonly backend: string;
  readonly caller: Caller;
  readonly clientInfo: JsonObject;
  readonly limits: Limits;
  readonly log: Log;
  readonly events: SessionEvents;
  /** Id of the first request: 1 unless given. */
  readonly firstId?: number;
  now(): number;
}

/**
 * JSON-RPC with one backend over any transport: requests with ids and progress tokens of the gateway, and their responses.
 * `IncomingMessages` dispatches the requests and notifications of the backend.
 */
export class JsonRpcConnection implements TransportSink, IncomingConnection {
  readonly backend: string;
  readonly limits: Limits;
  /** Epoch milliseconds of the last request or response. */
  usedAtMs: number;
  readonly #options: JsonRpcConnectionOptions;
  readonly #wire: Transport;
  readonly #pending = new InFlightMap<number | string, PendingRequest>();
  readonly #bodies: RequestBodies;
  readonly #incoming: IncomingMessages;
  #nextId: number;
  #alive = true;
  #retired = false;
  /** Why it ended, unless the gateway closed it. */
  #lostBy: ConnectionFailure | undefined;
  #era: Era = '2025-11-25';
  #hello: BackendHello = { info: {}, capabilities: {}, instructions: undefined, protocolVersion: '' };

  constructor(options: JsonRpcConnectionOptions, makeWire: (sink: TransportSink) => Transport) {
    this.#options = options;
    this.#nextId = options.firstId ?? 1;
    this.backend = options.backend;
    this.limits = options.limits;
    this.usedAtMs = options.now();
    this.#incoming = new IncomingMessages(this, options.events);
    this.#bodies = new RequestBodies(options.clientInfo);
    this.#wire = makeWire(this);
  }

  /** Of its `initialize` or `server/discover` result. */
  get era(): Era {
    return this.#era;
  }

  get hello(): BackendHello {
    return this.#hello;
  }

  get alive(): boolean {
    return this.#alive;
  }

  /** Whether the server keeps a session for this connection. */
  get stateful(): boolean {
    return this.#wire.stateful;
  }

  get inFlight(): number {
    return this.#pending.size;
  }

  /** Whether a request of the backend waits for a client now. */
  get isAsking(): boolean {
    return this.#incoming.isAsking;
  }

  get log(): Log {
    return this.#options.log;
  }

  now(): number {
    return this.#options.now();
  }

  underway(): readonly PendingRequest[] {
    return this.#pending.values();
  }

  /** The pending request with this id, as a number or as its text: some servers return numbers as text. */
  find(id: number | string | undefined): PendingRequest | undefined {
    if (id === undefined) return undefined;
    const found = this.#pending.get(id);
    return found !== undefined || typeof id === 'number' ? found : this.#pending.get(Number(id));
  }

  post(body: Buffer, method: string, caller: Caller | undefined): Promise<void> {
    return this.#wire.post(body, method, caller);
  }

  /** The era is negotiated: later messages have its form. */
  agree(era: Era, hello: BackendHello): void {
    this.#era = era;
    this.#hello = hello;
    this.#wire.agreed(era, hello.protocolVersion);
  }

  /** Resolves with the raw result object. @throws BackendError · ConnectionFailure · the reason of the signal of `asked` */
  request(asked: OutgoingRequest): Promise<RawObject> {
    return new Promise((resolve, reject) => {
      if (!this.#alive) return reject(this.#closed(true));
      const given = asked.cancel ?? asked.signal;
      if (given?.aborted === true) return reject(given.reason);
      const era = asked.era ?? this.#era;
      const number = this.#nextId++;
      const id = asked.onNotification === undefined ? number : `listen-${number}`;
      const exchange = new PendingRequest(this, id, asked, resolve, reject);
      this.#pending.set(id, exchange);
      this.usedAtMs = exchange.startedMs;
      this.#wire.send(this.#bodies.of(id, asked, era), exchange, era);
    });
  }

  async notify(method: string, params?: JsonObject): Promise<void> {
    const body = params === undefined ? { jsonrpc: '2.0', method } : { jsonrpc: '2.0', method, params };
    await this.#wire.post(Buffer.from(JSON.stringify(body)), method, undefined);
  }

  /** Requests in flight fail. */
  async close(): Promise<void> {
    if (this.#alive) this.#end(this.#closed(false));
    await this.#wire.close();
  }

  /** Closes it once nothing is in flight. */
  retire(): void {
    this.#retired = true;
    if (this.#pending.size === 0) this.close().catch(() => undefined);
  }

  lost(cause: ConnectionFailure): void {
    if (!this.#alive) return;
    this.#lostBy = cause;
    this.#end(cause);
    this.#options.events.lost(cause);
    // The transport still holds a process or sockets.
    this.#wire.close().catch(() => undefined);
  }

  failAll(cause: ConnectionFailure): void {
    for (const exchange of this.#pending.values()) exchange.fail(cause);
  }

  hear(bytes: Buffer, via: Exchange | undefined): void {
    const message = this.#read(bytes, via);
    if (message === undefined) return;
    if (message.string('jsonrpc') !== '2.0') throw new RawJsonError('expected "jsonrpc":"2.0"', 0);
    const method = message.get('method');
    const id = message.get('id');
    if (method === undefined) return this.#answered(message, id, via, bytes.length);
    const name = message.string('method');
    if (name === undefined) return;
    const params = message.get('params') ?? EMPTY_PARAMS;
    const source = via as PendingRequest | undefined;
    if (id !== undefined) {
      // 2026-07-28 has no server requests, and no POST for their responses.
      if (this.#era === '2026-07-28' && this.#wire.closingCancels) return;
      return this.#incoming.takeRequest(name, id, params, source);
    }
    const members = params === EMPTY_PARAMS ? RawObject.empty() : message.object('params');
    if (members === undefined || !isUtf8(params)) return;
    try {
      this.#incoming.takeNotification(name, members, source);
    } catch (cause) {
      if (cause instanceof RawJsonError) throw cause;
      // A failing listener must not end the stream that it listens to.
      this.#options.log.error('listener of a backend notification failed', this.about(cause));
    }
  }

  /** Removes an ended request. */
  forget(exchange: PendingRequest): void {
    this.#pending.delete(exchange.id);
    this.usedAtMs = this.now();
    if (this.#retired && this.#pending.size === 0) this.close().catch(() => undefined);
  }

  /** The client cancelled: notifies the backend once, in the form of its era. */
  withdraw(exchange: PendingRequest): void {
    const era = exchange.asked.era ?? this.#era;
    const closing = era === '2026-07-28' && this.#wire.closingCancels;
    // `initialize` must not be cancelled (2025-11-25 lifecycle), so its requests name their era themselves.
    const hello = exchange.asked.era !== undefined;
    if (!closing && !hello && this.#alive) this.#cancel(exchange);
    exchange.abandon?.();
  }

  #cancel(exchange: PendingRequest): void {
    const params = { requestId: exchange.id, reason: 'cancelled by the client' };
    const body = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
    this.#wire
      .post(Buffer.from(body), 'notifications/cancelled', exchange.asked.caller)
      .catch((cause: unknown) => this.#options.log.debug('cancel not delivered', this.about(cause)));
  }

  /** The message; `undefined` when it has too many members or values, which fails the request that it answers. */
  #read(bytes: Buffer, via: Exchange | undefined): RawObject | undefined {
    const { objectMembers, resultValues } = this.limits;
    try {
      return RawObject.parse(bytes, READ_THROUGH, objectMembers, resultValues, resultValues);
    } catch (cause) {
      if (!(cause instanceof TooManyMembers)) throw cause;
      const exchange = this.find(idAtEdge(bytes));
      if (exchange === undefined || (via !== undefined && via !== exchange)) {
        this.#options.log.warn('a message of a backend was dropped', this.about(cause));
      } else exchange.fail(new ConnectionFailure(this.backend, 'too-large', `sent a message in which ${cause.reason}`));
      return undefined;
    }
  }

  #answered(message: RawObject, rawId: RawJson | undefined, via: Exchange | undefined, bytes: number): void {
    const id = idFrom(rawId);
    const exchange = this.find(id);
    // Responses that match no pending request (late, duplicate, unknown) are ignored.
    if (exchange === undefined || (via !== undefined && via !== exchange)) return;
    const error = message.object('error');
    if (error !== undefined) {
      return exchange.fail(this.#unfit(error.toBytes()) ?? this.#errorFrom(error));
    }
    const members = message.object('result');
    if (members === undefined) return exchange.fail(this.#protocolFailure('answered without a result object'));
    const unfit = this.#unfit(members.toBytes());
    if (unfit !== undefined) return exchange.fail(unfit);
    exchange.asked.held?.add(bytes); // until the response is sent
    exchange.succeed(members);
  }

  #errorFrom(error: RawObject): BackendError {
    const { code, message, data, members } = errorOf(error);
    return new BackendError(this.backend, code, message, data, members);
  }

  /** Why a response cannot be sent to a client. */
  #unfit(answer: RawJson): ConnectionFailure | undefined {
    if (answer.length > this.limits.resultBytes) {
      const sentence = `answered ${answer.length} bytes, more than the limit of ${this.limits.resultBytes}`;
      return new ConnectionFailure(this.backend, 'too-large', sentence);
    }
    return isUtf8(answer) ? undefined : this.#protocolFailure('answered bytes that are not UTF-8');
  }

  #protocolFailure(sentence: string): ConnectionFailure {
    return new ConnectionFailure(this.backend, 'protocol', sentence);
  }

  #end(cause: ConnectionFailure): void {
    this.#alive = false;
    this.failAll(cause);
    this.#incoming.cancelAll();
  }

  #closed(notRun: boolean): ConnectionFailure {
    const first = this.#lostBy;
    const why = first === undefined ? '' : `: it ${first.sentence}`;
    const facts = { notRun, connectionLost: true, cause: first };
    return new ConnectionFailure(this.backend, 'closed', `has its session closed${why}`, facts);
  }

  /** Log fields about this backend. */
  about(cause: unknown): JsonObject {
    return { backend: this.backend, cause: cause instanceof Error ? cause.message : String(cause) };
  }
}
