import type { CatalogEntry, ToolEntry } from '../contract/call.ts';
import type { EntryKind } from '../contract/catalog-entry.ts';
import type { Era } from '../contract/era.ts';
import type { RawJson } from '../contract/json.ts';
import type { FindUnlisted } from './unlisted-resources.ts';

/** What one capability class may call and see at the endpoint's own path. Immutable; replaced as a whole on change. */
export interface Catalog {
  readonly capabilityClass: string;
  /** A visible entry by its advertised name. One Map.get. */
  find(kind: 'tool' | 'prompt', name: string): CatalogEntry | undefined;
  /**
   * A tool for inner calls, hidden tools included: by its advertised name, then `backend.original`, then
   * `backend.advertised`, then `backend.` and one of its aliases (e.g. an override without the prefix).
   */
  findForInnerCall(name: string): ToolEntry | undefined;
  /**
   * The entry of a URI: the resource itself, else a matching template of the same backend (RFC 6570). `undefined` also
   * when several backends claim the URI and no priority decides, and for dot segments matched by a template.
   */
  findResource(uri: string): CatalogEntry | undefined;
  /** The backend of a URI that no list contains, or the backends that may have it; see `unlistedFinder`. */
  readonly findUnlisted: FindUnlisted;
  /** The template with exactly this text, for completion references. */
  findTemplate(uriTemplate: string): CatalogEntry | undefined;
  /** Visible entries of a kind, sorted by key. */
  visible(kind: EntryKind): readonly CatalogEntry[];
  /** The lists of the second path; the same catalogue when no entry is limited to one path. */
  direct(): Catalog;
  /** Every tool, hidden ones included, sorted by key; for `explain` and virtual tools. */
  allTools(): readonly ToolEntry[];
  /** Sentences for the operator about what was dropped. */
  readonly warnings: readonly string[];
  /** Names that several backends claim and that are therefore dropped. */
  readonly conflicts: readonly CatalogConflict[];
  /** For how long a client may keep a list, in milliseconds: see `limits.listTtlMs`. */
  ttlMs(kind: EntryKind): number;
  /**
   * One page of a list as a whole result object of the era, serialised once and cached. `undefined` for a malformed
   * cursor or a cursor of another list.
   */
  page(kind: EntryKind, era: Era, cursor: string | undefined): RawJson | undefined;
}

/** A name or URI that several backends claim and that is therefore dropped. */
export interface CatalogConflict {
  readonly kind: EntryKind;
  /** As clients would call it: the advertised name, the URI, or the text of the template. */
  readonly name: string;
  /** Sorted, without duplicates. */
  readonly backends: readonly string[];
}

/** The catalogues of all capability classes. */
export interface Catalogs {
  /**
   * The catalogue of a class, built on first use from the lists known by then. A caller's class without lists of its
   * own gets the catalogue of its capability class.
   * @throws GatewayFault when it cannot be built and there is no older one, e.g. CATALOG_CONFLICT
   */
  of(capabilityClass: string): Catalog;
  /** A backend's lists changed for one class (`''` = for every class): rebuilds, compares and notifies, coalesced. */
  changed(backend: string, capabilityClass: string): void;
  /** Rebuilds pending changes now, without waiting for more changes. */
  catchUp(): void;
  onChanged(listener: (change: CatalogChange) => void): () => void;
  /** The classes in use. */
  classes(): readonly string[];
  stop(): void;
}

/** The lists of a class that differ from the previous ones. */
export interface CatalogChange {
  readonly capabilityClass: string;
  readonly kinds: readonly ('tools' | 'prompts' | 'resources')[];
}
