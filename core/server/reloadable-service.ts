import type { CatalogEntry } from '../contract/call.ts';
import type { ClientContext } from '../contract/client-context.ts';
import type { Inbound } from '../contract/inbound.ts';
import { explainCause } from '../errors.ts';
import type { Log } from '../extension/plugin.ts';
import { encode } from '../json/json-value.ts';
import { RawObject } from '../json/raw-json.ts';
import type { GatewayService, ListsChanged } from '../pipeline/gateway-service.ts';
import type { McpRequest } from '../pipeline/mcp-request.ts';
import type { ServerDescription } from '../pipeline/server-info.ts';
import { Cancel } from '../timing/cancel.ts';

/** A resource subscription of a client. */
interface Subscription {
  readonly entry: CatalogEntry;
  readonly uri: string;
  readonly client: ClientContext;
  count: number;
}

/** Subscriptions and log level of an owner, to be repeated after a reload. */
interface OwnerState {
  level?: { readonly client: ClientContext; readonly level: string };
  readonly watches: Map<string, Subscription>;
}

/**
 * The gateway service as the protocol servers use it; a reload replaces the service behind it.
 *
 * Subscriptions and log levels are remembered here, for both eras, and repeated at the next service for backends that
 * it did not take over.
 */
export class ReloadableService implements GatewayService {
  #service: GatewayService;
  readonly #log: Log;
  readonly #owners = new Map<string, OwnerState>();
  readonly #listeners = new Set<(change: ListsChanged) => void>();
  #unsubscribe: () => void;
  /** Owners keep this listener, so it is the same for all services. */
  readonly listClass?: NonNullable<GatewayService['listClass']>;

  constructor(service: GatewayService, log: Log) {
    this.#service = service;
    if (service.listClass !== undefined) this.listClass = service.listClass;
    this.#log = log;
    this.#unsubscribe = this.#listenTo(service);
  }

  /** Switches to `next`. `kept`: backends that it took over, with their subscriptions and log levels. */
  exchange(next: GatewayService, kept: ReadonlySet<string>): void {
    this.#unsubscribe();
    this.#service = next;
    this.#unsubscribe = this.#listenTo(next);
    for (const { level, watches } of this.#owners.values()) {
      if (level !== undefined) next.setLogLevel(level.client, level.level);
      for (const watch of watches.values()) void this.#watchAgain(next, watch, kept.has(watch.entry.backend));
    }
  }

  /** Notifies clients of changed lists. */
  notify(change: ListsChanged): void {
    for (const listener of this.#listeners) listener(change);
  }

  identify = (inbound: Inbound) => this.#service.identify(inbound);
  answer = (request: McpRequest) => this.#service.answer(request);
  describeServer = (client: ClientContext): ServerDescription => this.#service.describeServer(client);
  mayWatch = (request: McpRequest, uri: string) => this.#service.mayWatch(request, uri);
  objection = async (request: McpRequest) => this.#service.objection?.(request);
  mirrored = (name: string, client: ClientContext) => this.#service.mirrored?.(name, client);
  prepareOwner = (client: ClientContext): void => this.#service.prepareOwner(client);
  rootsChanged = (client: ClientContext): void => this.#service.rootsChanged(client);

  async watch(entry: CatalogEntry, uri: string, client: ClientContext): Promise<void> {
    await this.#service.watch(entry, uri, client);
    const { watches } = this.#stateOf(client);
    const known = watches.get(uri);
    if (known === undefined) watches.set(uri, { entry, uri, client, count: 1 });
    else known.count++;
  }

  async unwatch(entry: CatalogEntry, uri: string, client: ClientContext): Promise<void> {
    this.#forget(uri, client);
    await this.#service.unwatch(entry, uri, client);
  }

  setLogLevel(client: ClientContext, level: string): void {
    this.#stateOf(client).level = { client, level };
    this.#service.setLogLevel(client, level);
  }

  release(ownerKey: string): void {
    this.#owners.delete(ownerKey);
    this.#service.release(ownerKey);
  }

  onListsChanged(listener: (change: ListsChanged) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #listenTo(service: GatewayService): () => void {
    return service.onListsChanged((change) => this.notify(change));
  }

  #stateOf({ owner }: ClientContext): OwnerState {
    const state = this.#owners.get(owner.key) ?? { watches: new Map<string, Subscription>() };
    this.#owners.set(owner.key, state);
    return state;
  }

  #forget(uri: string, { owner }: ClientContext): void {
    const state = this.#owners.get(owner.key);
    const known = state?.watches.get(uri);
    if (state === undefined || known === undefined) return;
    if (--known.count <= 0) state.watches.delete(uri);
    if (state.watches.size === 0 && state.level === undefined) this.#owners.delete(owner.key);
  }

  /** The policy of the next service decides again; refused or missing resources are not watched any more. */
  async #watchAgain(next: GatewayService, { entry, uri, client, count }: Subscription, isKept: boolean): Promise<void> {
    try {
      const found = await next.mayWatch(subscribing(uri, client), uri);
      const isAllowed = 'entry' in found && found.entry.backend === entry.backend;
      for (let n = 0; n < count; n++) {
        if (isAllowed && !isKept) await next.watch(entry, uri, client);
        if (!isAllowed && isKept) await next.unwatch(entry, uri, client);
      }
    } catch (cause) {
      this.#log.warn('a resource could not be subscribed again', { uri, cause: explainCause(cause) });
    }
  }
}

/** The subscribe request of the client, without the HTTP request, which is not stored. */
function subscribing(uri: string, client: ClientContext): McpRequest {
  const params = RawObject.empty().with('uri', encode(uri));
  const { caller } = client.owner;
  return { method: 'resources/subscribe', params, caller, client, inbound: undefined, cancel: new Cancel() };
}
