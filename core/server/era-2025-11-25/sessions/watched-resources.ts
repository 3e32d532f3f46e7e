import type { CatalogEntry } from '../../../contract/call.ts';
import type { HeldBytes } from '../../../mcp/byte-budget.ts';

/** Why one more resource is not watched. */
export type NotWatched = 'tooMany' | 'tooLong' | 'noMemory';

/** Resources that one session may watch; each costs a subscription at a backend. */
export const MAX_WATCHES = 1024;
/** Bytes of their URIs together: a modern backend is sent all of them again with each new one. */
export const MAX_WATCHED_BYTES = 262_144;
/** Of one subscription, besides its URI, in all tables that have it. */
const OVERHEAD_BYTES = 1024;

/**
 * The resources that one session watches. They are kept as long as the session, so their bytes are counted for its caller: clients
 * choose the URIs, and a caller may have thousands of sessions.
 */
export class WatchedResources {
  readonly #entries = new Map<string, CatalogEntry>();
  readonly #held: HeldBytes;
  #uriBytes = 0;

  constructor(held: HeldBytes) {
    this.#held = held;
  }

  has(uri: string): boolean {
    return this.#entries.has(uri);
  }

  get(uri: string): CatalogEntry | undefined {
    return this.#entries.get(uri);
  }

  [Symbol.iterator](): IterableIterator<[string, CatalogEntry]> {
    return this.#entries[Symbol.iterator]();
  }

  /** Adds a resource that is not watched yet; says why when it cannot. */
  add(uri: string, entry: CatalogEntry): NotWatched | undefined {
    if (this.#entries.size >= MAX_WATCHES) return 'tooMany';
    const bytes = Buffer.byteLength(uri);
    if (this.#uriBytes + bytes > MAX_WATCHED_BYTES) return 'tooLong';
    if (!this.#held.take(bytes + OVERHEAD_BYTES)) return 'noMemory';
    this.#uriBytes += bytes;
    this.#entries.set(uri, entry);
    return undefined;
  }

  remove(uri: string): CatalogEntry | undefined {
    const entry = this.#entries.get(uri);
    if (entry === undefined) return undefined;
    this.#entries.delete(uri);
    const bytes = Buffer.byteLength(uri);
    this.#uriBytes -= bytes;
    this.#held.add(-bytes - OVERHEAD_BYTES);
    return entry;
  }

  clear(): void {
    for (const uri of this.#entries.keys()) this.remove(uri);
  }
}
