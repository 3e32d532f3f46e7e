import type { Caller } from '../../contract/caller.ts';
import type { SessionOwner } from '../../contract/client-context.ts';
import type { JsonObject, RawJson } from '../../contract/json.ts';
import type { Log } from '../../extension/plugin.ts';
import { RawObject } from '../../json/raw-json.ts';
import type { Limits } from '../../limits.ts';
import { partsFromValue } from '../../mcp/backend-message.ts';
import { LOG_LEVELS } from '../../mcp/log-levels.ts';
import type { ListKind } from '../../mcp/methods.ts';
import { type BackOff, backOffMs } from '../../timing/back-off.ts';
import { ConnectionFailure } from '../failure.ts';
import type { BackendSession, SessionEvents } from './backend-session.ts';
import type { ConnectFor, Connector } from './connect.ts';
import type { JsonRpcConnection } from './json-rpc-connection.ts';

const REOPEN: BackOff = { firstMs: 500, maxMs: 30_000 };

/** What a session holder is made with. */
export interface SessionHolderOptions {
  readonly key: string;
  readonly backend: string;
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
  readonly connector: Connector;
  readonly limits: Limits;
  readonly log: Log;
  listChanged(holder: SessionHolder, kind: ListKind): void;
  lost(holder: SessionHolder, cause: ConnectionFailure): void;
  ambiguousMessage(): void;
}

/** Subscribers of a session holder, by owner. */
export type Watchers = ReadonlyMap<string, Watcher>;

/** A subscriber, and its number of subscriptions per resource. */
export interface Watcher {
  readonly owner: SessionOwner;
  readonly counts: Map<string, number>;
}

/** Holds one session: opens it on demand, once at a time, and repeats log level and subscriptions in a new session. */
export class SessionHolder {
  readonly key: string;
  readonly #options: SessionHolderOptions;
  readonly #watchers: Map<string, Watcher>;
  readonly #closing = new AbortController();
  #connection: JsonRpcConnection | undefined;
  #opening: Promise<JsonRpcConnection> | undefined;
  #level: string | undefined;
  /** A level that the backend has not confirmed yet: calls wait for it, so that none runs at another level. */
  #settingLevel: Promise<void> | undefined;
  #reopening: NodeJS.Timeout | undefined;

  /** `watchers`: subscribers of the previous holder, subscribed again when a session opens. */
  constructor(options: SessionHolderOptions, watchers: Watchers = new Map()) {
    this.key = options.key;
    this.#options = options;
    this.#watchers = new Map(watchers);
  }

  /** The session, if it is open and nothing has to be awaited. */
  get ready(): JsonRpcConnection | undefined {
    return this.#settingLevel === undefined ? this.connection : undefined;
  }

  /** The session, if it is open. */
  get connection(): JsonRpcConnection | undefined {
    return this.#connection?.alive === true ? this.#connection : undefined;
  }

  get opening(): boolean {
    return this.#opening !== undefined;
  }

  get caller(): Caller {
    // an owner's token may have been renewed since the holder was made
    return this.#options.owner?.caller ?? this.#options.caller;
  }

  /** The required era of its sessions; `undefined` for the detected one. */
  get era(): '2025-11-25' | undefined {
    return this.#options.era;
  }

  get owner(): SessionOwner | undefined {
    return this.#options.owner;
  }

  get purpose(): 'discovery' | 'session' {
    return this.#options.purpose;
  }

  get capabilityClass(): string {
    return this.#options.capabilityClass;
  }

  get capabilities(): JsonObject {
    return this.#options.capabilities;
  }

  get share(): string {
    return this.#options.share;
  }

  /** The current subscribers. */
  get watchers(): Watchers {
    return new Map(this.#watchers);
  }

  get isWatched(): boolean {
    return this.#watchers.size > 0;
  }

  /** No request needs its session now. */
  get isFree(): boolean {
    return this.#opening === undefined && (this.#connection === undefined || this.#connection.inFlight === 0);
  }

  /** The call in this session waits for an answer, which a 2026-07-28 client will send in a new request. */
  get waitsForClient(): boolean {
    const { owner } = this.#options;
    return (
      owner !== undefined && owner.era !== '2025-11-25' && this.connection?.inFlight === 1 && this.connection.isAsking
    );
  }

  /** Ends the call that waits for an answer in this session, so that another caller can use the session. */
  endWaitingCall(): void {
    const facts = { category: 'busy' } as const;
    const sentence = 'closed the session of this waiting call for another caller';
    this.#connection?.failAll(new ConnectionFailure('BACKEND_BUSY', this.#options.backend, sentence, facts));
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
    return this.#settingLevel === undefined ? connection : this.#settingLevel.then(() => this.connect());
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
    this.#closing.abort(stopped(this.#options.backend));
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
    const first = !this.#isWatched(uri);
    const watcher = this.#watchers.get(owner.key) ?? { owner, counts: new Map<string, number>() };
    this.#watchers.set(owner.key, watcher);
    watcher.counts.set(uri, (watcher.counts.get(uri) ?? 0) + 1);
    if (!first) return;
    try {
      await this.#ask(await this.connect(), 'resources/subscribe', { uri });
    } catch (cause) {
      this.#forgetWatch(uri, owner.key);
      throw cause;
    }
  }

  async unwatch(uri: string, ownerKey: string): Promise<void> {
    if (!this.#forgetWatch(uri, ownerKey) || this.#isWatched(uri)) return;
    const { connection } = this;
    if (connection !== undefined) await this.#ask(connection, 'resources/unsubscribe', { uri });
  }

  /** An owner of a shared session has ended. */
  async forgetOwner(ownerKey: string): Promise<void> {
    const uris = [...(this.#watchers.get(ownerKey)?.counts.keys() ?? [])];
    this.#watchers.delete(ownerKey);
    const { connection } = this;
    if (connection === undefined) return;
    const left = uris.filter((uri) => !this.#isWatched(uri));
    await Promise.allSettled(left.map((uri) => this.#ask(connection, 'resources/unsubscribe', { uri })));
  }

  /** Sets the log level of the session; `atLeast` only lowers the threshold. Also applied to sessions opened later. */
  setLevel(level: string, atLeast = false): void {
    if (this.#level === level || (atLeast && !isMoreVerbose(level, this.#level))) return;
    this.#level = level;
    const { connection } = this;
    if (connection !== undefined) this.#sendLevel(connection);
  }

  rootsChanged(): void {
    const { connection } = this;
    if (connection === undefined || connection.era !== '2025-11-25') return;
    connection.notify('notifications/roots/list_changed').catch((cause: unknown) => this.#note('roots change', cause));
  }

  async #open(): Promise<JsonRpcConnection> {
    const { connector, purpose, capabilities, era } = this.#options;
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
    const connection = await connector.open(who);
    if (this.#closing.signal.aborted) {
      await connection.close();
      throw this.#closing.signal.reason;
    }
    this.#connection = connection;
    if (connection.era === '2025-11-25') this.#restore(connection);
    await this.#settingLevel;
    return connection;
  }

  #restore(connection: JsonRpcConnection): void {
    if (this.#level !== undefined) this.#sendLevel(connection);
    const uris = new Set([...this.#watchers.values()].flatMap((watcher) => [...watcher.counts.keys()]));
    for (const uri of uris) {
      this.#ask(connection, 'resources/subscribe', { uri }).catch((cause: unknown) =>
        this.#note('subscription', cause),
      );
    }
  }

  #events(): SessionEvents {
    const { owner, backend } = this.#options;
    const holder = this;
    return {
      listChanged: (kind) => this.#options.listChanged(this, kind),
      updated: (params) => this.#updated(params),
      logged: (params) => owner?.sink?.logged(backend, params),
      notified: (method, params) => owner?.sink?.notified?.(backend, method, params),
      ambiguousMessage: () => this.#options.ambiguousMessage(),
      get request() {
        return owner?.sink?.request;
      },
      lost(cause) {
        holder.#connection = undefined;
        holder.#options.lost(holder, cause);
        if (holder.#watchers.size > 0) holder.#reopen(1);
      },
    };
  }

  /** Subscribers send no requests, so without this the session would not be reopened for them. */
  #reopen(attempt: number): void {
    clearTimeout(this.#reopening);
    const ms = backOffMs(attempt, REOPEN);
    this.#reopening = setTimeout(() => {
      if (this.#closing.signal.aborted || this.#watchers.size === 0) return;
      Promise.resolve(this.connect()).catch(() => this.#reopen(attempt + 1));
    }, ms);
    this.#reopening.unref();
  }

  #updated(params: RawJson): void {
    const uri = RawObject.parse(params).string('uri');
    if (uri === undefined) return;
    for (const { owner, counts } of this.#watchers.values()) {
      // An update may name a resource below the subscribed one.
      const wanted = [...counts.keys()].some((watched) => uri === watched || uri.startsWith(watched));
      if (wanted) owner.sink?.resourceUpdated(this.#options.backend, params);
    }
  }

  #sendLevel(connection: JsonRpcConnection): void {
    const level = this.#level;
    if (level === undefined || connection.era !== '2025-11-25' || connection.hello.capabilities.logging === undefined)
      return;
    const sent = this.#ask(connection, 'logging/setLevel', { level }, this.#options.limits.helloMs)
      .catch((cause: unknown) => this.#note('log level', cause))
      .finally(() => {
        if (this.#settingLevel === sent) this.#settingLevel = undefined;
      });
    this.#settingLevel = sent;
  }

  async #ask(
    connection: BackendSession,
    method: string,
    params: JsonObject,
    timeoutMs = this.#options.limits.callTimeoutMs,
  ): Promise<void> {
    const { capabilities } = this.#options;
    await connection.request({
      method,
      params: partsFromValue(params),
      caller: this.caller,
      purpose: 'session',
      capabilities,
      timeoutMs,
      totalMs: timeoutMs,
      signal: this.#closing.signal,
    });
  }

  #isWatched(uri: string): boolean {
    for (const watcher of this.#watchers.values()) if (watcher.counts.has(uri)) return true;
    return false;
  }

  /** Returns whether there was such a subscription. */
  #forgetWatch(uri: string, ownerKey: string): boolean {
    const watcher = this.#watchers.get(ownerKey);
    const count = watcher?.counts.get(uri);
    if (watcher === undefined || count === undefined) return false;
    if (count > 1) watcher.counts.set(uri, count - 1);
    else watcher.counts.delete(uri);
    if (watcher.counts.size === 0) this.#watchers.delete(ownerKey);
    return true;
  }

  /** Errors caused by a stop are not logged as failures. */
  #note(what: string, cause: unknown): void {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const level = this.#closing.signal.aborted ? 'debug' : 'warn';
    this.#options.log[level]('a request to the backend failed', {
      backend: this.#options.backend,
      what,
      cause: reason,
    });
  }
}

/** The failure of everything that a stop cancels. */
export function stopped(backend: string): ConnectionFailure {
  const facts = { category: 'stopped', notRun: true } as const;
  return new ConnectionFailure('BACKEND_UNREACHABLE', backend, 'was removed', facts);
}

function isMoreVerbose(level: string, than: string | undefined): boolean {
  if (than === undefined) return true;
  const levels: readonly string[] = LOG_LEVELS;
  return levels.indexOf(level) < levels.indexOf(than);
}
