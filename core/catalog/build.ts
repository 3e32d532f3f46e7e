import type { BackendListing } from '../backend/backend-manager.ts';
import type { CatalogDraft, CatalogEntry, CatalogInputs, EntryKind, ToolEntry } from '../contract/tool.ts';
import { isAmbiguousUri } from './ambiguous-uri.ts';
import type { Catalog } from './catalog.ts';
import { settleCollisions } from './collisions.ts';
import { definitionNamed } from './definition.ts';
import { draftFromListings } from './discovered.ts';
import { insideNames } from './inside-names.ts';
import { createPageStore, type PageParts } from './pages.ts';
import { boundNames } from './short-names.ts';
import { type FindUnlisted, unlistedFinder } from './unlisted.ts';
import { readUriClaims, type UriClaims, withoutContested } from './uri-claims.ts';

/** What a catalogue is built with, the same for every class. */
export interface BuildParts extends PageParts {
  /** Names of all configured backends. */
  backends(): readonly string[];
  /** The `shapeCatalog` hook. */
  shape(draft: CatalogDraft, inputs: CatalogInputs): CatalogDraft;
  readonly maxToolNameLength?: number;
}

/** A catalogue, and those of its warnings that are errors. */
export interface Built {
  readonly catalog: Catalog;
  readonly errors: readonly string[];
}

/**
 * Listings to catalogue: discover, shape, settle collisions, bound names, index.
 *
 * Pure but for what `shape` does: the same listings give the same catalogue, whatever the order they came in.
 * @throws whatever `shape` throws; RawJsonError when a plugin made a definition that is not a JSON object
 */
export function buildCatalog(
  capabilityClass: string,
  listings: ReadonlyMap<string, BackendListing>,
  parts: BuildParts,
): Built {
  const backends = [...parts.backends()].sort();
  const shaped = parts.shape(draftFromListings(listings), { backends });
  const { draft, errors: collisions, conflicts: named } = settleCollisions(shaped);
  const claims = readUriClaims(shaped);
  const contested: string[] = [];
  const conflicts = [...named];
  const resources = withoutContested(draft.resources, draft.templates, claims, contested, conflicts);
  const tools = parts.maxToolNameLength === undefined ? draft.tools : boundNames(draft.tools, parts.maxToolNameLength);
  const lists = {
    tool: sorted(tools.map(withOwnName)),
    prompt: sorted(draft.prompts.map(withOwnName)),
    resource: sorted(resources),
    template: sorted(draft.templates),
  };
  const warnings = [...draft.warnings, ...contested, ...claims.unmatchable];
  const unlisted = (shown: readonly CatalogEntry[]) => unlistedFinder(listings, shown, backends);
  const routing: Routing = { claims, unlisted };
  return {
    catalog: catalogFrom(capabilityClass, lists, { warnings, conflicts }, parts, routing),
    errors: [...collisions, ...contested],
  };
}

/** How URIs find their backends, the same at both doors. */
interface Routing {
  readonly claims: UriClaims;
  unlisted(shown: readonly CatalogEntry[]): FindUnlisted;
}

/** Lists by kind, hidden entries included, sorted by key. */
interface Lists {
  readonly tool: readonly ToolEntry[];
  readonly prompt: readonly CatalogEntry[];
  readonly resource: readonly CatalogEntry[];
  readonly template: readonly CatalogEntry[];
}

function catalogFrom(
  capabilityClass: string,
  lists: Lists,
  told: Pick<Catalog, 'warnings' | 'conflicts'>,
  parts: PageParts,
  routing: Routing,
  door: Door = 'front',
): Catalog {
  const isShown = (entry: CatalogEntry): boolean => isVisible(entry) && (entry.servedAt ?? door) === door;
  const visible: Readonly<Record<EntryKind, readonly CatalogEntry[]>> = {
    tool: lists.tool.filter(isShown),
    prompt: lists.prompt.filter(isShown),
    resource: lists.resource.filter(isShown),
    template: lists.template.filter(isShown),
  };
  const byKey = {
    tool: keyed(visible.tool),
    prompt: keyed(visible.prompt),
    resource: keyed(visible.resource),
    template: keyed(visible.template),
  };
  const { claims } = routing;
  const findUnlisted = routing.unlisted([...visible.resource, ...visible.template]);
  const pages = createPageStore((kind) => visible[kind], parts);
  let inside: ReadonlyMap<string, ToolEntry> | undefined;
  let direct: Catalog | undefined;
  const catalog: Catalog = {
    capabilityClass,
    find: (kind, name) => byKey[kind].get(name),
    findInside(name) {
      inside ??= insideNames(lists.tool);
      return inside.get(name);
    },
    findResource(uri) {
      const found = claims.find(uri);
      if (found === undefined || !isShown(found)) return undefined;
      return found.kind === 'template' && isAmbiguousUri(uri) ? undefined : found;
    },
    findUnlisted(uri) {
      const among = claims.contenders(uri);
      return among.length > 0 ? { among } : findUnlisted(uri);
    },
    findTemplate: (uriTemplate) => byKey.template.get(uriTemplate),
    visible: (kind) => visible[kind],
    direct() {
      direct ??=
        door === 'front' && hasDoors(lists)
          ? catalogFrom(capabilityClass, lists, told, parts, routing, 'direct')
          : catalog;
      return direct;
    },
    allTools: () => lists.tool,
    ...told,
    page: pages.page,
  };
  return catalog;
}

type Door = NonNullable<CatalogEntry['servedAt']>;

/** Whether the doors show different things. */
function hasDoors(lists: Lists): boolean {
  return Object.values(lists).some((entries: readonly CatalogEntry[]) =>
    entries.some(({ servedAt }) => servedAt !== undefined),
  );
}

function isVisible(entry: CatalogEntry): boolean {
  return entry.hiddenBy === undefined;
}

function keyed(entries: readonly CatalogEntry[]): ReadonlyMap<string, CatalogEntry> {
  return new Map(entries.map((entry) => [entry.key, entry]));
}

/** A plugin that gave an entry another key need not have rewritten its definition: clients must read the name they call. */
function withOwnName<E extends CatalogEntry>(entry: E): E {
  const definition = definitionNamed(entry.definition, entry.key);
  return definition === entry.definition ? entry : { ...entry, definition };
}

/** By key; hidden entries may share one, then the workload decides. Code units, not a locale: the same everywhere. */
function sorted<E extends CatalogEntry>(entries: readonly E[]): E[] {
  return [...entries].sort((a, b) => compare(a.key, b.key) || compare(a.backend, b.backend));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
