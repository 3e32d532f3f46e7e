import type { Backend } from '../../contract/backend.ts';
import type { Caller } from '../../contract/caller.ts';
import type { SessionOwner } from '../../contract/client-context.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { Log } from '../../extension/plugin.ts';
import type { Limits } from '../../limits.ts';
import { partsFromValue } from '../../mcp/backend-message.ts';
import type { ListKind } from '../../mcp/methods.ts';
import { type BackOff, backOffMs } from '../../timing/back-off.ts';
import { ConnectionFailure, stopped } from '../failure.ts';
import type { SessionEvents } from './backend-session.ts';
import type { ConnectFor, Connector } from './connector.ts';
import type { JsonRpcConnection } from './json-rpc-connection.ts';
import { ResourceWatchers } from './resource-watchers.ts';
import { SessionLogLevel } from './session-log-level.ts';

const REOPEN: BackOff = { firstMs: 500, maxMs: 30_000 };

/** Whose session it is. */
export interface HeldFor {
  readonly key: string;
  /** When it was made; an owner's token may have been renewed since. */
  readonly caller: Caller;
  readonly capabilities: JsonObject;
  readonly capabilityClass: string;
  readonly purpose: 'discovery' | 'session';
  /** Key of its share of the backend's sessions. */
  readonly share: string;
  /** The owner, if there is only one: it receives messages outside calls. */
  readonly owner: SessionOwner | undefined;
  /** Set when the session has another era than the gateway's own. */
  readonly era?: '2025-11-25';
}

/** What all session holders of a backend are made with. */
export interface SessionHolderOptions {
  readonly backend: Backend;
  readonly connector: Connector;
  readonly limits: Limits;
  readonly log: Log;
  listChanged(holder: SessionHolder, kind: ListKind): void;
  lost(holder: SessionHolder, cause: ConnectionFailure): void;
  /** A message of the backend could not be assigned to one of several calls. */
  ambiguousMessage(): void;
}

/** Holds one session: opens it on demand, once at a time, and repeats log level and subscriptions in a new session. */
export class SessionHolder {
  readonly about: HeldFor;
  readonly #options: SessionHolderOptions;
  readonly #watchers: ResourceWatchers;
  readonly #logLevel: SessionLogLevel;
  readonly #closing = new AbortController();
  #connection: JsonRpcConnection | undefined;
  #opening: Promise<JsonRpcConnection> | undefined;
  #reopening: NodeJS.Timeout | undefined;

  /** `watchers`: subscribers of the previous holder, subscribed again when a session opens. */
  constructor(about: HeldFor, options: SessionHolderOptions, watchers?: ResourceWatchers) {
    this.about = about;
    this.#options = options;
    this.#watchers = new ResourceWatchers(watchers);
    this.#logLevel = new SessionLogLevel((connection, level) => this.#sendLevel(connection, level));
  }

  /** The session, if it is open and nothing has to be awaited. */
  get ready(): JsonRpcConnection | undefined {
    return this.#logLevel.pending === undefined ? this.connection : undefined;
  }

  /** The session, if it is open. */
  get connection(): JsonRpcConnection | undefined {
    return this.#connection?.alive === true ? this.#connection : undefined;
  }

  get caller(): Caller {
    return this.about.owner?.caller ?? this.about.caller;
  }

  /** A copy of the current subscribers. */
  get watchers(): ResourceWatchers {
    return new ResourceWatchers(this.#watchers);
  }

  get isWatched(): boolean {
    return !this.#watchers.isEmpty;
  }

  /** No request needs its session now. */
  get isFree(): boolean {
    return this.#opening === undefined && (this.#connection === undefined || this.#connection.inFlight === 0);
  }

  /** The call in this session waits for an answer, which a 2026-07-28 client will send in a new request. */
  get waitsForClient(): boolean {
    const { owner } = this.about;
    return (
      owner !== undefined && owner.era !== '2025-11-25' && this.connection?.inFlight === 1 && this.connection.isAsking
    );
  }

  /** Ends the call that waits for an answer in this session, so that another caller can use the session. */
  endWaitingCall(): void {
    const sentence = 'closed the session of this waiting call for another caller';
    this.#connection?.failAll(new ConnectionFailure(this.#options.backend.name, 'busy', sentence));
  }

  /** The session can be closed without loss. */
  isIdleSince(ms: number): boolean {
    return this.isFree && !this.isWatched && this.usedAtMs <= ms;
  }

  get usedAtMs(): number {
    return this.#connection?.usedAtMs ?? 0;
  }

  /** The open session, or a promise of one. @throws GatewayFault */
  connect(): JsonRpcConnection | Promise<JsonRpcConnection> {
    const connection = this.#connection;
    if (connection?.alive !== true) return this.open();
    const { pending } = this.#logLevel;
    return pending === undefined ? connection : pending.then(() => this.connect());
  }

  /** Opens a new session unless one is open; concurrent callers share the attempt. */
  open(): Promise<JsonRpcConnection> {
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  /** Releases the session once its requests are answered: the next `connect` opens another one. */
  renew(): void {
    this.#connection?.retire();
    this.#connection = undefined;
  }

  async close(): Promise<void> {
    clearTimeout(this.#reopening);
    this.#closing.abort(stopped(this.#options.backend.name));
    this.#watchers.clear();
    await this.#opening?.catch(() => undefined);
    const connection = this.#connection;
    this.#connection = undefined;
    await connection?.close();
  }

  /**
   * Subscribes for the first subscriber. @throws BackendError · GatewayFault when the backend refuses; nothing is
   * stored then
   */
  async watch(uri: string, owner: SessionOwner): Promise<void> {
    const isFirst = !this.#watchers.has(uri);
    this.#watchers.add(uri, owner);
    if (!isFirst) return;
    try {
      await this.#ask(await this.connect(), 'resources/subscribe', { uri });
    } catch (cause) {
      this.#watchers.remove(uri, owner.key);
      throw cause;
    }
  }

  async unwatch(uri: string, ownerKey: string): Promise<void> {
    if (!this.#watchers.remove(uri, ownerKey) || this.#watchers.has(uri)) return;
    const { connection } = this;
    if (connection !== undefined) await this.#ask(connection, 'resources/unsubscribe', { uri });
  }

  /** An owner of a shared session has ended. */
  async forgetOwner(ownerKey: string): Promise<void> {
    const left = this.#watchers.removeOwner(ownerKey);
    const { connection } = this;
    if (connection === undefined) return;
    await Promise.allSettled(left.map((uri) => this.#ask(connection, 'resources/unsubscribe', { uri })));
  }

  /** Sets the log level of the session; `atLeast` only lowers the threshold. Also applied to sessions opened later. */
  setLevel(level: string, atLeast = false): void {
    if (!this.#logLevel.set(level, atLeast)) return;
    const { connection } = this;
    if (connection !== undefined) this.#logLevel.sendTo(connection);
  }

  rootsChanged(): void {
    const { connection } = this;
    if (connection === undefined || connection.era !== '2025-11-25') return;
    connection.notify('notifications/roots/list_changed').catch((cause: unknown) => this.#note('roots change', cause));
  }

  async #open(): Promise<JsonRpcConnection> {
    const { purpose, capabilities, era } = this.about;
    this.#closing.signal.throwIfAborted();
    const holder = this;
    const who: ConnectFor = {
      get caller() {
        return holder.caller;
      },
      purpose,
      capabilities,
      events: this.#events(),
      signal: this.#closing.signal,
      ...(era === undefined ? {} : { era }),
    };
    const connection = await this.#options.connector.open(who);
    if (this.#closing.signal.aborted) {
      await connection.close();
      throw this.#closing.signal.reason;
    }
    this.#connection = connection;
    if (connection.era === '2025-11-25') this.#restore(connection);
    await this.#logLevel.pending;
    return connection;
  }

  #restore(connection: JsonRpcConnection): void {
    this.#logLevel.sendTo(connection);
    for (const uri of this.#watchers.uris) {
      this.#ask(connection, 'resources/subscribe', { uri }).catch((cause: unknown) =>
        this.#note('subscription', cause),
      );
    }
  }

  /** Messages that belong to no call go to the only owner, and updates of resources to their subscribers. */
  #events(): SessionEvents {
    const { listChanged, ambiguousMessage } = this.#options;
    const backend = this.#options.backend.name;
    const { owner } = this.about;
    return {
      listChanged: (kind) => listChanged(this, kind),
      updated: (params) => this.#watchers.notify(backend, params),
      logged: (params) => owner?.sink?.logged(backend, params),
      notified: (method, params) => owner?.sink?.notified?.(backend, method, params),
      ambiguousMessage,
      get request() {
        return owner?.sink?.request;
      },
      lost: (cause) => this.#lost(cause),
    };
  }

  #lost(cause: ConnectionFailure): void {
    this.#connection = undefined;
    this.#options.lost(this, cause);
    if (this.isWatched) this.#reopen(1);
  }

  /** Subscribers send no requests, so without this the session would not be reopened for them. */
  #reopen(attempt: number): void {
    clearTimeout(this.#reopening);
    const ms = backOffMs(attempt, REOPEN);
    this.#reopening = setTimeout(() => {
      if (this.#closing.signal.aborted || !this.isWatched) return;
      Promise.resolve(this.connect()).catch(() => this.#reopen(attempt + 1));
    }, ms);
    this.#reopening.unref();
  }

  async #sendLevel(connection: JsonRpcConnection, level: string): Promise<void> {
    try {
      await this.#ask(connection, 'logging/setLevel', { level }, this.#options.limits.helloMs);
    } catch (cause) {
      this.#note('log level', cause);
    }
  }

  async #ask(
    connection: JsonRpcConnection,
    method: string,
    params: JsonObject,
    timeoutMs = this.#options.limits.callTimeoutMs,
  ): Promise<void> {
    await connection.request({
      method,
      params: partsFromValue(params),
      caller: this.caller,
      purpose: 'session',
      capabilities: this.about.capabilities,
      timeoutMs,
      totalMs: timeoutMs,
      signal: this.#closing.signal,
    });
  }

  /** Errors caused by a stop are not logged as failures. */
  #note(what: string, cause: unknown): void {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const level = this.#closing.signal.aborted ? 'debug' : 'warn';
    this.#options.log[level]('a request to the backend failed', {
      backend: this.#options.backend.name,
      what,
      cause: reason,
    });
  }
}
