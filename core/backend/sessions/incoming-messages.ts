import type { Era } from '../../contract/era.ts';
import type { RawJson } from '../../contract/json.ts';
import type { RawObject } from '../../json/raw-json.ts';
import { idFrom, withoutHopMeta } from '../../mcp/backend-message.ts';
import { isLogWanted } from '../../mcp/log-threshold.ts';
import { META } from '../../mcp/meta.ts';
import { CHANGED_LIST } from '../../mcp/methods.ts';
import type { SessionEvents } from './backend-session.ts';
import type { PendingRequest } from './pending-request.ts';
import { PendingServerRequests, type ServerRequestConnection } from './pending-server-requests.ts';

/** The connection of incoming messages. */
export interface IncomingConnection extends ServerRequestConnection {
  readonly era: Era;
  /** The pending request with this id, as a number or as its text. */
  find(id: number | string | undefined): PendingRequest | undefined;
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
