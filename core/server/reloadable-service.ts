import type { CatalogEntry } from '../contract/call.ts';
import type { ClientContext } from '../contract/client-context.ts';
import type { Inbound } from '../contract/inbound.ts';
import { explainCause } from '../errors.ts';
import type { Log } from '../extension/plugin.ts';
import { encode, RawObject } from '../json/raw-json.ts';
import type { GatewayService, ListsChanged } from '../pipeline/gateway-service.ts';
import type { McpRequest } from '../pipeline/mcp-request.ts';
import type { ServerDescription } from '../pipeline/server-info.ts';
import { Cancel } from '../timing/cancel.ts';

/** A resource that somebody watches. */
interface Watch {
  readonly entry: CatalogEntry;
  readonly uri: string;
  readonly client: ClientContext;
  count: number;
}

/** What an owner told its backends and would have to tell again. */
interface Told {
  level?: { readonly client: ClientContext; readonly level: string };
  readonly watches: Map<string, Watch>;
}

/**
 * The gateway as the client edges see it: the one behind it can be exchanged under their feet.
 *
 * What clients have asked of backends for good (subscriptions, log levels) is remembered here, once for both eras, and
 * asked again of the next service where it has not taken the backend over.
 */
export class ReloadableService implements GatewayService {
  #service: GatewayService;
  readonly #log: Log;
  readonly #told = new Map<string, Told>();
  readonly #listeners = new Set<(change: ListsChanged) => void>();
  #unsubscribe: () => void;
  /** Owners keep what it says, so it is the same for all services behind it. */
  readonly listClass?: NonNullable<GatewayService['listClass']>;

  constructor(service: GatewayService, log: Log) {
    this.#service = service;
    if (service.listClass !== undefined) this.listClass = service.listClass;
    this.#log = log;
    this.#unsubscribe = this.#listenTo(service);
  }

  /** From now on `next` answers. `kept`: backends that it has taken over, with all that was asked of them. */
  exchange(next: GatewayService, kept: ReadonlySet<string>): void {
    this.#unsubscribe();
    this.#service = next;
    this.#unsubscribe = this.#listenTo(next);
    for (const { level, watches } of this.#told.values()) {
      if (level !== undefined) next.setLogLevel(level.client, level.level);
      for (const watch of watches.values()) void this.#watchAgain(next, watch, kept.has(watch.entry.backend));
    }
  }

  /** Tells clients what the exchange changed for them. */
  tell(change: ListsChanged): void {
    for (const listener of this.#listeners) listener(change);
  }

  identify = (inbound: Inbound) => this.#service.identify(inbound);
  answer = (request: McpRequest) => this.#service.answer(request);
  face = (client: ClientContext): ServerDescription => this.#service.face(client);
  mayWatch = (request: McpRequest, uri: string) => this.#service.mayWatch(request, uri);
  objection = async (request: McpRequest) => this.#service.objection?.(request);
  mirrored = (name: string, client: ClientContext) => this.#service.mirrored?.(name, client);
  prepareOwner = (client: ClientContext): void => this.#service.prepareOwner(client);
  rootsChanged = (client: ClientContext): void => this.#service.rootsChanged(client);

  async watch(entry: CatalogEntry, uri: string, client: ClientContext): Promise<void> {
    await this.#service.watch(entry, uri, client);
    const { watches } = this.#toldBy(client);
    const known = watches.get(uri);
    if (known === undefined) watches.set(uri, { entry, uri, client, count: 1 });
    else known.count++;
  }

  async unwatch(entry: CatalogEntry, uri: string, client: ClientContext): Promise<void> {
    this.#forget(uri, client);
    await this.#service.unwatch(entry, uri, client);
  }

  setLogLevel(client: ClientContext, level: string): void {
    this.#toldBy(client).level = { client, level };
    this.#service.setLogLevel(client, level);
  }

  release(ownerKey: string): void {
    this.#told.delete(ownerKey);
    this.#service.release(ownerKey);
  }

  onListsChanged(listener: (change: ListsChanged) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #listenTo(service: GatewayService): () => void {
    return service.onListsChanged((change) => this.tell(change));
  }

  #toldBy({ owner }: ClientContext): Told {
    const told = this.#told.get(owner.key) ?? { watches: new Map<string, Watch>() };
    this.#told.set(owner.key, told);
    return told;
  }

  #forget(uri: string, { owner }: ClientContext): void {
    const told = this.#told.get(owner.key);
    const known = told?.watches.get(uri);
    if (told === undefined || known === undefined) return;
    if (--known.count <= 0) told.watches.delete(uri);
    if (told.watches.size === 0 && told.level === undefined) this.#told.delete(owner.key);
  }

  /** The policy of the next service decides anew; what it refuses, or does not have, is watched no more. */
  async #watchAgain(next: GatewayService, { entry, uri, client, count }: Watch, isKept: boolean): Promise<void> {
    try {
      const found = await next.mayWatch(subscribing(uri, client), uri);
      const isAllowed = 'entry' in found && found.entry.backend === entry.backend;
      for (let n = 0; n < count; n++) {
        if (isAllowed && !isKept) await next.watch(entry, uri, client);
        if (!isAllowed && isKept) await next.unwatch(entry, uri, client);
      }
    } catch (cause) {
      this.#log.warn('a resource could not be watched again', { uri, cause: explainCause(cause) });
    }
  }
}

/** The request that the client made once, without its HTTP headers: they are not kept. */
function subscribing(uri: string, client: ClientContext): McpRequest {
  const cancel = new Cancel();
  return {
    method: 'resources/subscribe',
    params: RawObject.empty().with('uri', encode(uri)),
    caller: client.owner.caller,
    client,
    inbound: { method: 'POST', path: '', headers: {}, remoteAddress: undefined, signal: cancel.signal },
    cancel,
  };
}
