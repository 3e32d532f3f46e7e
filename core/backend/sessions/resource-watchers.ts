import type { SessionOwner } from '../../contract/client-context.ts';
import type { RawJson } from '../../contract/json.ts';
import { RawObject } from '../../json/raw-json.ts';

/** A subscriber, and its number of subscriptions per resource. */
interface Watcher {
  readonly owner: SessionOwner;
  readonly counts: Map<string, number>;
}

/** The subscribers of the resources of one session. */
export class ResourceWatchers {
  readonly #byOwner: Map<string, Watcher>;

  /** `from`: the subscribers of a previous session, which continue. */
  constructor(from?: ResourceWatchers) {
    this.#byOwner = new Map(from === undefined ? [] : from.#byOwner);
  }

  get isEmpty(): boolean {
    return this.#byOwner.size === 0;
  }

  /** The watched resources, each once. */
  get uris(): ReadonlySet<string> {
    return new Set([...this.#byOwner.values()].flatMap(({ counts }) => [...counts.keys()]));
  }

  has(uri: string): boolean {
    for (const { counts } of this.#byOwner.values()) if (counts.has(uri)) return true;
    return false;
  }

  add(uri: string, owner: SessionOwner): void {
    const watcher = this.#byOwner.get(owner.key) ?? { owner, counts: new Map<string, number>() };
    this.#byOwner.set(owner.key, watcher);
    watcher.counts.set(uri, (watcher.counts.get(uri) ?? 0) + 1);
  }

  /** Removes one subscription; returns whether there was such a subscription. */
  remove(uri: string, ownerKey: string): boolean {
    const counts = this.#byOwner.get(ownerKey)?.counts;
    const count = counts?.get(uri);
    if (counts === undefined || count === undefined) return false;
    if (count > 1) counts.set(uri, count - 1);
    else counts.delete(uri);
    if (counts.size === 0) this.#byOwner.delete(ownerKey);
    return true;
  }

  /** Removes a subscriber; returns the resources that have no subscriber any more. */
  removeOwner(ownerKey: string): readonly string[] {
    const uris = [...(this.#byOwner.get(ownerKey)?.counts.keys() ?? [])];
    this.#byOwner.delete(ownerKey);
    return uris.filter((uri) => !this.has(uri));
  }

  /** Tells the subscribers of an updated resource, which may be below the subscribed one. */
  notify(backend: string, params: RawJson): void {
    const updated = RawObject.parse(params).string('uri');
    if (updated === undefined) return;
    for (const { owner, counts } of this.#byOwner.values()) {
      if ([...counts.keys()].some((uri) => updated.startsWith(uri))) owner.sink?.resourceUpdated(backend, params);
    }
  }

  clear(): void {
    this.#byOwner.clear();
  }
}
