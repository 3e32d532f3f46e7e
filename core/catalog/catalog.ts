import type { Era } from '../contract/era.ts';
import type { RawJson } from '../contract/json.ts';
import type { CatalogEntry, EntryKind, ToolEntry } from '../contract/tool.ts';
import type { FindUnlisted } from './unlisted.ts';

/** What one capability class may call and see at the endpoint's own path. Immutable; replaced as a whole on change. */
export interface Catalog {
  readonly capabilityClass: string;
  /** A visible entry by its advertised name: what clients may reach. One Map.get. */
  find(kind: 'tool' | 'prompt', name: string): CatalogEntry | undefined;
  /**
   * A tool for inner calls, hidden ones included: by its advertised name, then `backend.original`, then
   * `backend.advertised`, then as `workload.` and a name it had in between (an override without its prefix).
   */
  findInside(name: string): ToolEntry | undefined;
  /**
   * The entry that answers for a URI: the resource itself, else a template of that backend that matches (RFC 6570);
   * `undefined` too for what several backends claim and no priority decides, and for dot segments behind a template.
   */
  findResource(uri: string): CatalogEntry | undefined;
  /** The backend of a URI that no list names, or the backends that may have it; see `unlistedFinder`. */
  readonly findUnlisted: FindUnlisted;
  /** The template whose text is exactly this, for completion refs. */
  findTemplate(uriTemplate: string): CatalogEntry | undefined;
  /** Visible entries of a kind, sorted by key. */
  visible(kind: EntryKind): readonly CatalogEntry[];
  /** The same lists as the second path serves them; the same catalogue when no entry is bound to a path. */
  direct(): Catalog;
  /** Every tool, hidden ones too, sorted by key; for `explain` and virtual tools. */
  allTools(): readonly ToolEntry[];
  /** Sentences for the operator about what was dropped. */
  readonly warnings: readonly string[];
  /** What several backends claim and nobody gets. */
  readonly conflicts: readonly CatalogConflict[];
  /**
   * One page of a list as a whole result object of the era, serialised once and kept.
   * `undefined` for a cursor that is malformed or of another list.
   */
  page(kind: EntryKind, era: Era, cursor: string | undefined): RawJson | undefined;
}

/** A name or URI that several backends claim, so that none of them gets it. */
export interface CatalogConflict {
  readonly kind: EntryKind;
  /** As clients would call it: the advertised name, the URI, the text of the template. */
  readonly name: string;
  /** Sorted, each once. */
  readonly backends: readonly string[];
}

/** The catalogues of all capability classes. */
export interface Catalogs {
  /**
   * The catalogue of a class, built on first use from what is known then. A caller's class without lists of its own is
   * served that of its capability class.
   * @throws GatewayFault when it could not be built and there is no older one to keep, e.g. CATALOG_CONFLICT
   */
  of(capabilityClass: string): Catalog;
  /** A backend's lists changed for one class (`''` = for every class): rebuild, compare, tell, coalesced. */
  changed(backend: string, capabilityClass: string): void;
  /** Rebuilds what has changed now, without waiting for more changes. */
  catchUp(): void;
  onChanged(listener: (change: CatalogChange) => void): () => void;
  /** Classes that were asked for. */
  classes(): readonly string[];
  stop(): void;
}

/** Lists of a class that differ from those before. */
export interface CatalogChange {
  readonly capabilityClass: string;
  readonly kinds: readonly ('tools' | 'prompts' | 'resources')[];
}
