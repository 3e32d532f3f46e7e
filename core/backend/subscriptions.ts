import type { Caller } from '../contract/caller.ts';
import type { SessionOwner } from '../contract/client-context.ts';
import type { JsonObject } from '../contract/json.ts';
import type { Log } from '../extension/plugin.ts';
import type { RawObject } from '../json/raw-json.ts';
import type { Limits } from '../limits.ts';
import { partsFromValue, withoutHopMeta } from '../mcp/backend-message.ts';
import { BackendError } from '../mcp/errors.ts';
import { type BackOff, backOffMs } from '../timing/back-off.ts';
import { ConnectionFailure } from './failure.ts';
import type { OwnerSessions } from './sessions/exclusive-sessions.ts';
import type { JsonRpcConnection } from './sessions/json-rpc-connection.ts';

const REOPEN: BackOff = { firstMs: 500, maxMs: 30_000 };
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';

/** The filter of a subscription to a modern backend. */
export interface ListenFilter extends JsonObject {
  readonly toolsListChanged?: true;
  readonly promptsListChanged?: true;
  readonly resourcesListChanged?: true;
  readonly resourceSubscriptions?: readonly string[];
}

/** What one subscription is made with. */
export interface ListeningOptions {
  readonly backend: string;
  readonly caller: Caller;
  readonly capabilities: JsonObject;
  readonly purpose: 'discovery' | 'session';
  readonly limits: Limits;
  readonly log: Log;
  connection(): JsonRpcConnection | Promise<JsonRpcConnection>;
  onNotification(method: string, params: RawObject): void;
  /** It was lost and reopened: notifications may have been missed. */
  onReconnected(): void;
  /** The backend refused to open it again. */
  onRefused?(): void;
}

/**
 * One `subscriptions/listen` stream to a modern backend that is kept open (MCP 2026-07-28).
 * A filter cannot be changed: a new stream with the new filter is opened before the old one is closed.
 */
export class Listening {
  readonly #options: ListeningOptions;
  #filter: ListenFilter | undefined;
  #current: AbortController | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ListeningOptions) {
    this.#options = options;
  }

  /** Subscribes with this filter; resolves when the backend has acknowledged it. @throws GatewayFault · BackendError */
  async subscribe(filter: ListenFilter): Promise<void> {
    this.#filter = filter;
    clearTimeout(this.#timer);
    await this.#open(filter, 0);
  }

  stop(): void {
    this.#filter = undefined;
    clearTimeout(this.#timer);
    this.#current?.abort();
    this.#current = undefined;
  }

  async #open(filter: ListenFilter, attempt: number): Promise<void> {
    const { caller, capabilities, purpose, limits, backend } = this.#options;
    const connection = await this.#options.connection();
    if (this.#filter !== filter) return;
    const open = new AbortController();
    const before = this.#current;
    this.#current = open;
    await new Promise<void>((resolve, reject) => {
      const late = setTimeout(() => {
        reject(new ConnectionFailure(backend, 'timeout', 'did not acknowledge a subscription in time'));
        // It was never open: the caller decides what to do.
        if (this.#current === open) this.#current = undefined;
        open.abort();
      }, limits.helloMs);
      const onNotification = (method: string, params: RawObject) => {
        if (method !== ACKNOWLEDGED) return this.#options.onNotification(method, params);
        clearTimeout(late);
        before?.abort();
        resolve();
        if (attempt > 0) this.#options.onReconnected();
      };
      const asked = {
        method: 'subscriptions/listen',
        params: partsFromValue({ notifications: filter }),
        caller,
        capabilities,
        purpose,
        timeoutMs: 0,
        totalMs: 0,
        signal: open.signal,
        onNotification,
      };
      connection
        .request(asked)
        .then(
          () => undefined,
          (cause: unknown) => cause,
        )
        .then((cause) => {
          clearTimeout(late);
          before?.abort();
          reject(cause ?? new ConnectionFailure(backend, 'closed', 'ended a subscription'));
          if (this.#current === open && !open.signal.aborted) this.#lost(filter, cause, attempt);
        });
    });
  }

  #lost(filter: ListenFilter, cause: unknown, attempt: number): void {
    this.#current = undefined;
    const { backend, log } = this.#options;
    const reason = cause instanceof Error ? cause.message : 'ended by the backend';
    if (cause instanceof BackendError) {
      log.warn('backend refuses subscriptions; its changes are not received', { backend, cause: reason });
      this.#options.onRefused?.();
      return;
    }
    log.debug('subscription lost; opening it again', { backend, cause: reason });
    clearTimeout(this.#timer);
    const again = attempt + 1;
    this.#timer = setTimeout(
      () => {
        // A failure before the request was sent is retried in the same way.
        this.#open(filter, again).catch((failed: unknown) => {
          if (this.#current === undefined && this.#filter === filter) this.#lost(filter, failed, again);
        });
      },
      backOffMs(again, REOPEN),
    );
    this.#timer.unref();
  }
}

interface Watch {
  readonly listening: Listening;
  readonly counts: Map<string, number>;
}

/** The resources that owners subscribed to at a modern backend: one listen stream per owner, with its credentials. */
export class ModernWatches {
  readonly #options: OwnerSessions;
  readonly #watches = new Map<string, Watch>();

  constructor(options: OwnerSessions) {
    this.#options = options;
  }

  /** Counted per owner and URI. @throws GatewayFault · BackendError when the backend refuses; nothing is stored then */
  async add(uri: string, owner: SessionOwner): Promise<void> {
    const watch = this.#watches.get(owner.key) ?? this.#begin(owner);
    const before = watch.counts.get(uri) ?? 0;
    watch.counts.set(uri, before + 1);
    if (before > 0) return;
    try {
      await watch.listening.subscribe(filterOf(watch));
    } catch (cause) {
      watch.counts.delete(uri);
      if (watch.counts.size === 0) this.release(owner.key);
      throw cause;
    }
  }

  /** Returns whether there was such a subscription. */
  async remove(uri: string, ownerKey: string): Promise<boolean> {
    const watch = this.#watches.get(ownerKey);
    const count = watch?.counts.get(uri);
    if (watch === undefined || count === undefined) return false;
    if (count > 1) {
      watch.counts.set(uri, count - 1);
      return true;
    }
    watch.counts.delete(uri);
    if (watch.counts.size === 0) this.release(ownerKey);
    else await watch.listening.subscribe(filterOf(watch));
    return true;
  }

  /** The backend is back: reopens every stream. */
  restore(failed: (cause: unknown) => void): void {
    for (const watch of this.#watches.values()) watch.listening.subscribe(filterOf(watch)).catch(failed);
  }

  release(ownerKey: string): void {
    this.#watches.get(ownerKey)?.listening.stop();
    this.#watches.delete(ownerKey);
  }

  stop(): void {
    for (const watch of this.#watches.values()) watch.listening.stop();
    this.#watches.clear();
  }

  #begin(owner: SessionOwner): Watch {
    const { limits, log, connection } = this.#options;
    const backend = this.#options.backend.name;
    const listening = new Listening({
      backend,
      caller: owner.caller,
      capabilities: owner.capabilities,
      purpose: 'session',
      limits,
      log,
      connection: () => connection(owner),
      onNotification(method, params) {
        if (method === 'notifications/resources/updated') owner.sink?.resourceUpdated(backend, withoutHopMeta(params));
      },
      onReconnected: () => undefined,
    });
    const watch = { listening, counts: new Map<string, number>() };
    this.#watches.set(owner.key, watch);
    return watch;
  }
}

function filterOf(watch: Watch): ListenFilter {
  return { resourceSubscriptions: [...watch.counts.keys()] };
}
