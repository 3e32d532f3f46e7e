import type { Caller } from '../../contract/caller.ts';
import type { ClientRequester } from '../../contract/client-context.ts';
import type { Era } from '../../contract/era.ts';
import type { JsonObject, RawJson } from '../../contract/json.ts';
import type { Log } from '../../extension/plugin.ts';
import { joinParts } from '../../json/byte-pieces.ts';
import { RawObject } from '../../json/raw-json.ts';
import type { Limits } from '../../limits.ts';
import { errorText, idFrom, responseBody, withoutHopMeta } from '../../mcp/backend-message.ts';
import { CODE, echoed } from '../../mcp/errors.ts';
import { isLogWanted } from '../../mcp/log-levels.ts';
import { META } from '../../mcp/meta.ts';
import { CHANGED_LIST } from '../../mcp/methods.ts';
import type { SessionEvents } from './backend-session.ts';
import type { PausedFor, PendingRequest } from './pending-request.ts';

/** The connection of incoming messages. */
export interface IncomingConnection {
  readonly era: Era;
  readonly alive: boolean;
  readonly limits: Limits;
  readonly log: Log;
  /** The pending request with this id, as a number or as its text. */
  find(id: number | string | undefined): PendingRequest | undefined;
  /** Sends a response. @throws ConnectionFailure */
  post(body: Buffer, method: string, caller: Caller | undefined): Promise<void>;
  /** Requests that a message may belong to when it does not say so. */
  underway(): readonly PendingRequest[];
  about(cause: unknown): JsonObject;
}

/**
 * Dispatches the requests and notifications that a backend sends: to the pending request that they belong to, or to the
 * events of the session. `via` is the request on whose own stream a message arrived, if known.
 */
export class IncomingMessages {
  readonly #connection: IncomingConnection;
  readonly #events: SessionEvents;
  readonly #questions: PendingServerRequests;

  constructor(connection: IncomingConnection, events: SessionEvents) {
    this.#connection = connection;
    this.#events = events;
    this.#questions = new PendingServerRequests(connection);
  }

  /** Whether a request of the backend waits for a client now. */
  get isAsking(): boolean {
    return this.#questions.isOpen;
  }

  /** The connection has ended: no request of the backend waits for a client any more. */
  cancelAll(): void {
    this.#questions.cancelAll();
  }

  takeRequest(method: string, id: RawJson, params: RawJson, via: PendingRequest | undefined): void {
    const about = this.#concerned(via);
    const isModern = this.#connection.era === '2026-07-28';
    const ask = isModern ? undefined : (about?.asked.listener?.request ?? this.#events.request);
    this.#questions.take({ method, id, params, about, caller: via?.asked.caller }, ask);
  }

  takeNotification(method: string, params: RawObject, via: PendingRequest | undefined): void {
    if (method === 'notifications/progress') return this.#progressed(params, via);
    if (method === 'notifications/cancelled') return this.#cancelled(params);
    const listen = this.#listenOf(params, via);
    if (listen?.asked.onNotification !== undefined) return listen.asked.onNotification(method, params);
    if (method === 'notifications/message') return this.#logged(params, via);
    const changed = CHANGED_LIST.get(method);
    if (changed !== undefined) return this.#events.listChanged(changed);
    if (method === 'notifications/resources/updated') return this.#events.updated(withoutHopMeta(params));
    const listener = this.#concerned(via)?.asked.listener;
    if (listener === undefined) return this.#events.notified(method, withoutHopMeta(params));
    listener.notify(method, withoutHopMeta(params));
  }

  #progressed(params: RawObject, via: PendingRequest | undefined): void {
    const token = idFrom(params.get('progressToken'));
    const exchange = this.#connection.find(token);
    if (exchange === undefined || (via !== undefined && via !== exchange)) return;
    exchange.restartTimeout();
    const listener = exchange.asked.listener;
    if (listener?.progressToken === undefined) return;
    listener.notify('notifications/progress', withoutHopMeta(params.with('progressToken', listener.progressToken)));
  }

  #cancelled(params: RawObject): void {
    const id = params.get('requestId');
    if (id !== undefined) this.#questions.cancel(id);
  }

  #logged(params: RawObject, via: PendingRequest | undefined): void {
    const plain = withoutHopMeta(params);
    const isUntagged = via === undefined && this.#connection.era === '2026-07-28';
    const listener = (isUntagged ? this.#loggingCall(plain) : this.#concerned(via))?.asked.listener;
    if (listener === undefined) return this.#events.logged(plain);
    listener.notify('notifications/message', plain);
  }

  #listenOf(params: RawObject, via: PendingRequest | undefined): PendingRequest | undefined {
    if (via !== undefined && !via.settled) return via;
    const meta = params.object('_meta');
    const id = idFrom(meta?.get(META.subscriptionId));
    return this.#connection.find(id);
  }

  /**
   * The call that gets a log message of a stateless program: the first that named a level which the message reaches, else the
   * first that named one. All such calls in one session are of one caller (`LoggingCalls`); other calls get no logs.
   */
  #loggingCall(params: RawJson): PendingRequest | undefined {
    let first: PendingRequest | undefined;
    for (const exchange of this.#connection.underway()) {
      const { listener, logLevel } = exchange.asked;
      if (listener === undefined || logLevel === undefined) continue;
      if (isLogWanted(params, logLevel)) return exchange;
      first ??= exchange;
    }
    return first;
  }

  /**
   * The request that a message belongs to, if the transport says so. Messages on the stream of a request after its
   * response belong to no other request.
   */
  #concerned(via: PendingRequest | undefined): PendingRequest | undefined {
    if (via === undefined) return this.#sole();
    return via.settled ? undefined : via;
  }

  /**
   * The only call in flight, if there is exactly one: then an untagged message belongs to it. Requests of the gateway
   * itself (a log level, a subscription) get no messages and are not counted.
   */
  #sole(): PendingRequest | undefined {
    let sole: PendingRequest | undefined;
    for (const exchange of this.#connection.underway()) {
      if (exchange.asked.listener === undefined) continue;
      if (sole !== undefined) {
        this.#events.ambiguousMessage();
        return undefined;
      }
      sole = exchange;
    }
    return sole;
  }
}

/** A request of a backend. */
interface Question {
  readonly method: string;
  readonly id: RawJson;
  readonly params: RawJson;
  /** The pending request that it arrived with, if known. */
  readonly about: PendingRequest | undefined;
  readonly caller: Caller | undefined;
}

/** Requests that a backend sends during calls: each is forwarded to a client, and its response sent back. */
class PendingServerRequests {
  readonly #connection: IncomingConnection;
  readonly #open = new Map<string, AbortController>();
  #answering = 0;

  constructor(connection: IncomingConnection) {
    this.#connection = connection;
  }

  /** Handles a request of a backend; without `ask` it is answered with an error. */
  take(question: Question, ask: ClientRequester | undefined): void {
    const { method, id, caller } = question;
    if (method === 'ping') return this.#respond(id, caller, '"result":{}');
    if (ask === undefined || !QUESTIONS.has(method)) {
      return this.#respond(id, caller, errorText(CODE.methodNotFound, `no client can answer ${echoed(method)} here`));
    }
    if (this.#open.has(id.toString('utf8'))) {
      return this.#respond(id, caller, errorText(CODE.invalidRequest, 'a request with this id is pending'));
    }
    if (this.#open.size >= MAX_OPEN) {
      return this.#respond(id, caller, errorText(CODE.internalError, 'too many requests are pending'));
    }
    this.#put(question, ask).catch((cause: unknown) =>
      this.#connection.log.warn('response to a backend was not delivered', this.#connection.about(cause)),
    );
  }

  /** The backend cancels its request. */
  cancel(id: RawJson): void {
    this.#open.get(id.toString('utf8'))?.abort();
  }

  /** Whether a client request is pending. */
  get isOpen(): boolean {
    return this.#open.size > 0;
  }

  cancelAll(): void {
    for (const open of this.#open.values()) open.abort();
  }

  async #put(question: Question, ask: ClientRequester): Promise<void> {
    const { id, about, caller } = question;
    const connection = this.#connection;
    const key = id.toString('utf8');
    const open = new AbortController();
    this.#open.set(key, open);
    const giveUp = setTimeout(() => open.abort(), connection.limits.askTimeoutMs);
    giveUp.unref();
    // Users think longer than backends work: the deadlines of the requests that it may belong to are paused.
    const waiting = about === undefined ? connection.underway() : [about];
    const left = new Set(waiting);
    const waited: PausedFor = {
      over(exchange) {
        // It is unknown which of them it belongs to; as long as one is pending it may be that one.
        if (left.delete(exchange) && left.size === 0) open.abort();
      },
    };
    for (const exchange of waiting) exchange.pause(waited);
    try {
      const params = withoutHopMeta(RawObject.parse(question.params));
      const answer = await ask(question.method, params, open.signal);
      if (connection.alive) await connection.post(responseBody(id, answer), question.method, caller);
    } catch (cause) {
      connection.log.debug('request of a backend failed', connection.about(cause));
      if (connection.alive) this.#respond(id, caller, errorText(CODE.internalError, 'the request was not answered'));
    } finally {
      clearTimeout(giveUp);
      this.#open.delete(key);
      for (const exchange of waiting) exchange.resume(waited);
    }
  }

  /** A backend that sends more requests than it reads responses gets no more responses. */
  #respond(id: RawJson, caller: Caller | undefined, member: string): void {
    const connection = this.#connection;
    if (this.#answering >= MAX_ANSWERING) return;
    this.#answering++;
    const body = joinParts(['{"jsonrpc":"2.0","id":', id, ',', member, '}']);
    connection
      .post(body, 'response', caller)
      .catch((cause: unknown) => connection.log.debug('response was not delivered', connection.about(cause)))
      .finally(() => this.#answering--);
  }
}

const QUESTIONS: ReadonlySet<string> = new Set(['elicitation/create', 'sampling/createMessage', 'roots/list']);

/** Requests of one backend that may wait for clients; more are answered with an error. */
const MAX_OPEN = 64;
/** Responses that are being sent to one backend: over HTTP each needs a connection. More are dropped. */
const MAX_ANSWERING = 64;
