import type { Asker } from '../contract/call.ts';
import type { Inbound } from '../contract/inbound.ts';
import type { CatalogEntry } from '../contract/tool.ts';
import { explainCause } from '../errors.ts';
import type { Log } from '../extension/plugin.ts';
import { Cancel } from './cancel.ts';
import type { Face, House, Intent, ListsChanged } from './intent.ts';
import { encode, RawObject } from './raw-json.ts';

/** A resource that somebody watches. */
interface Watch {
  readonly entry: CatalogEntry;
  readonly uri: string;
  readonly asker: Asker;
  count: number;
}

/** What an owner told its backends and would have to tell again. */
interface Told {
  level?: { readonly asker: Asker; readonly level: string };
  readonly watches: Map<string, Watch>;
}

/**
 * The house as the client edges see it: the one behind it can be exchanged under their feet.
 *
 * What clients have asked of backends for good (subscriptions, log levels) is remembered here, once for both eras, and
 * asked again of the next house where it has not taken the backend over.
 */
export class HouseDoor implements House {
  #house: House;
  readonly #log: Log;
  readonly #told = new Map<string, Told>();
  readonly #listeners = new Set<(change: ListsChanged) => void>();
  #unsubscribe: () => void;
  /** Owners keep what it says, so it is the same for all houses behind one door. */
  readonly listClass?: NonNullable<House['listClass']>;

  constructor(house: House, log: Log) {
    this.#house = house;
    if (house.listClass !== undefined) this.listClass = house.listClass;
    this.#log = log;
    this.#unsubscribe = this.#listenTo(house);
  }

  /** From now on `next` answers. `kept`: backends that it has taken over, with all that was asked of them. */
  exchange(next: House, kept: ReadonlySet<string>): void {
    this.#unsubscribe();
    this.#house = next;
    this.#unsubscribe = this.#listenTo(next);
    for (const { level, watches } of this.#told.values()) {
      if (level !== undefined) next.setLogLevel(level.asker, level.level);
      for (const watch of watches.values()) void this.#watchAgain(next, watch, kept.has(watch.entry.workload));
    }
  }

  /** Tells clients what the exchange changed for them. */
  tell(change: ListsChanged): void {
    for (const listener of this.#listeners) listener(change);
  }

  identify = (inbound: Inbound) => this.#house.identify(inbound);
  answer = (intent: Intent) => this.#house.answer(intent);
  face = (asker: Asker): Face => this.#house.face(asker);
  mayWatch = (intent: Intent, uri: string) => this.#house.mayWatch(intent, uri);
  objection = async (intent: Intent) => this.#house.objection?.(intent);
  mirrored = (name: string, asker: Asker) => this.#house.mirrored?.(name, asker);
  welcome = (asker: Asker): void => this.#house.welcome(asker);
  rootsChanged = (asker: Asker): void => this.#house.rootsChanged(asker);

  async watch(entry: CatalogEntry, uri: string, asker: Asker): Promise<void> {
    await this.#house.watch(entry, uri, asker);
    const { watches } = this.#toldBy(asker);
    const known = watches.get(uri);
    if (known === undefined) watches.set(uri, { entry, uri, asker, count: 1 });
    else known.count++;
  }

  async unwatch(entry: CatalogEntry, uri: string, asker: Asker): Promise<void> {
    this.#forget(uri, asker);
    await this.#house.unwatch(entry, uri, asker);
  }

  setLogLevel(asker: Asker, level: string): void {
    this.#toldBy(asker).level = { asker, level };
    this.#house.setLogLevel(asker, level);
  }

  release(ownerKey: string): void {
    this.#told.delete(ownerKey);
    this.#house.release(ownerKey);
  }

  onListsChanged(listener: (change: ListsChanged) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #listenTo(house: House): () => void {
    return house.onListsChanged((change) => this.tell(change));
  }

  #toldBy({ owner }: Asker): Told {
    const told = this.#told.get(owner.key) ?? { watches: new Map<string, Watch>() };
    this.#told.set(owner.key, told);
    return told;
  }

  #forget(uri: string, { owner }: Asker): void {
    const told = this.#told.get(owner.key);
    const known = told?.watches.get(uri);
    if (told === undefined || known === undefined) return;
    if (--known.count <= 0) told.watches.delete(uri);
    if (told.watches.size === 0 && told.level === undefined) this.#told.delete(owner.key);
  }

  /** The policy of the next house decides anew; what it refuses, or does not have, is watched no more. */
  async #watchAgain(next: House, { entry, uri, asker, count }: Watch, isKept: boolean): Promise<void> {
    try {
      const found = await next.mayWatch(subscribing(uri, asker), uri);
      const isAllowed = 'entry' in found && found.entry.workload === entry.workload;
      for (let n = 0; n < count; n++) {
        if (isAllowed && !isKept) await next.watch(entry, uri, asker);
        if (!isAllowed && isKept) await next.unwatch(entry, uri, asker);
      }
    } catch (cause) {
      this.#log.warn('a resource could not be watched again', { uri, cause: explainCause(cause) });
    }
  }
}

/** The request that the client made once, without its HTTP headers: they are not kept. */
function subscribing(uri: string, asker: Asker): Intent {
  const cancel = new Cancel();
  return {
    method: 'resources/subscribe',
    params: RawObject.empty().with('uri', encode(uri)),
    caller: asker.owner.caller,
    asker,
    inbound: { method: 'POST', path: '', headers: {}, remoteAddress: undefined, signal: cancel.signal },
    cancel,
  };
}
