import type { BackendListing } from '../backend/backend-manager.ts';
import { clientTtlMs } from '../backend/lists/list-age.ts';
import type { CatalogEntry, ToolEntry } from '../contract/call.ts';
import type { CatalogDraft, CatalogInputs } from '../contract/catalog-draft.ts';
import type { EntryKind } from '../contract/catalog-entry.ts';
import { GatewayFault } from '../errors.ts';
import type { Limits } from '../limits.ts';
import type { ListKind } from '../mcp/methods.ts';
import { isAmbiguousUri } from './ambiguous-uri.ts';
import type { Catalog } from './catalog.ts';
import { resolveCollisions } from './collisions.ts';
import { draftFromListings } from './draft-from-listings.ts';
import { definitionNamed } from './entry-definition.ts';
import { innerCallNames } from './inner-call-names.ts';
import { withoutLongNames } from './long-names.ts';
import { type CachedPageParts, createPageCache, type PageParts } from './page-cache.ts';
import { boundNames } from './short-names.ts';
import { type FindUnlisted, unlistedFinder } from './unlisted-resources.ts';
import { readUriClaims, type UriClaims, withoutContested } from './uri-claims.ts';

/** What a catalogue is built with, the same for every capability class. */
export interface BuildParts extends Omit<PageParts, 'ttlMs' | 'limits'> {
  readonly limits: Pick<Limits, 'pageSize' | 'listTtlMs' | 'nameBytes' | 'uriBytes'>;
  /** Names of all configured backends. */
  backends(): readonly string[];
  /** The `shapeCatalog` hook. */
  shape(draft: CatalogDraft, inputs: CatalogInputs): CatalogDraft;
  readonly maxToolNameLength?: number;
}

/** A catalogue, and the warnings that are errors. */
export interface BuiltCatalog {
  readonly catalog: Catalog;
  readonly errors: readonly string[];
}

/**
 * Builds a catalogue from listings: discover, shape, resolve collisions, shorten names, index.
 *
 * Pure except for `shape`: the same listings give the same catalogue, in any order.
 * @throws whatever `shape` throws; GatewayFault PLUGIN_FAILED when a plugin made a definition that is not a JSON object
 */
export function buildCatalog(
  capabilityClass: string,
  listings: ReadonlyMap<string, BackendListing>,
  parts: BuildParts,
): BuiltCatalog {
  const backends = [...parts.backends()].sort();
  const listed = [...listings.values()].map(({ backend, hello }) => ({ backend, instructions: hello.instructions }));
  const shaped = parts.shape(draftFromListings(listings), { backends, listed });
  const { draft, errors: collisions, conflicts: sameNames } = resolveCollisions(shaped);
  const claims = readUriClaims(shaped);
  const contested: string[] = [];
  const conflicts = [...sameNames];
  const resources = withoutContested(draft.resources, draft.templates, claims, contested, conflicts);
  const tools = parts.maxToolNameLength === undefined ? draft.tools : boundNames(draft.tools, parts.maxToolNameLength);
  const long: string[] = [];
  const named = <E extends CatalogEntry>(entries: readonly E[]) => withoutLongNames(entries, parts.limits, long);
  const lists = {
    tool: sorted(named(tools).map(withOwnName)),
    prompt: sorted(named(draft.prompts).map(withOwnName)),
    resource: sorted(named(resources)),
    template: sorted(named(draft.templates)),
  };
  const warnings = [...draft.warnings, ...contested, ...claims.unmatchable, ...long];
  const unlisted = (shown: readonly CatalogEntry[]) => unlistedFinder(listings, shown, backends);
  const routing: Routing = { claims, unlisted };
  const ttlMs = (kind: EntryKind): number => clientTtlMs(listings.values(), LIST_OF[kind], parts.limits);
  return {
    catalog: catalogFrom(capabilityClass, lists, { warnings, conflicts }, { ...parts, ttlMs }, routing),
    errors: [...collisions, ...contested],
  };
}

/** The list of a backend that has the entries of a kind. */
const LIST_OF = {
  tool: 'tools',
  prompt: 'prompts',
  resource: 'resources',
  template: 'resources',
} as const satisfies Readonly<Record<EntryKind, ListKind>>;

/** How URIs are mapped to backends; the same at both paths. */
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
  notes: Pick<Catalog, 'warnings' | 'conflicts'>,
  parts: CachedPageParts,
  routing: Routing,
  path: EndpointPath = 'front',
): Catalog {
  const isServed = (entry: CatalogEntry): boolean => entry.hiddenBy === undefined && (entry.servedAt ?? path) === path;
  const isShown = (entry: CatalogEntry): boolean => isServed(entry) && entry.held === undefined;
  const visible: Readonly<Record<EntryKind, readonly CatalogEntry[]>> = {
    tool: lists.tool.filter(isShown),
    prompt: lists.prompt.filter(isShown),
    resource: lists.resource.filter(isShown),
    template: lists.template.filter(isShown),
  };
  const byKey = {
    tool: keyed(lists.tool.filter(isServed)),
    prompt: keyed(lists.prompt.filter(isServed)),
    resource: keyed(visible.resource),
    template: keyed(visible.template),
  };
  const { claims } = routing;
  const findUnlisted = routing.unlisted([...visible.resource, ...visible.template]);
  const pages = createPageCache((kind) => visible[kind], parts);
  let inside: ReadonlyMap<string, ToolEntry> | undefined;
  let direct: Catalog | undefined;
  const catalog: Catalog = {
    capabilityClass,
    find: (kind, name) => byKey[kind].get(name),
    findForInnerCall(name) {
      inside ??= innerCallNames(lists.tool);
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
        path === 'front' && hasTwoPaths(lists)
          ? catalogFrom(capabilityClass, lists, notes, parts, routing, 'direct')
          : catalog;
      return direct;
    },
    allTools: () => lists.tool,
    ...notes,
    ttlMs: parts.ttlMs,
    page: pages.page,
  };
  return catalog;
}

type EndpointPath = NonNullable<CatalogEntry['servedAt']>;

/** Whether some entry is served at one path only. */
function hasTwoPaths(lists: Lists): boolean {
  return Object.values(lists).some((entries: readonly CatalogEntry[]) =>
    entries.some(({ servedAt }) => servedAt !== undefined),
  );
}

/** An entry that is held gives its name to one that is not. */
function keyed(entries: readonly CatalogEntry[]): ReadonlyMap<string, CatalogEntry> {
  const byKey = new Map<string, CatalogEntry>();
  for (const entry of entries) if (entry.held === undefined || !byKey.has(entry.key)) byKey.set(entry.key, entry);
  return byKey;
}

/** Sets `name` in the definition of an entry whose key a plugin changed: clients must see the name that they call. */
function withOwnName<E extends CatalogEntry>(entry: E): E {
  try {
    const definition = definitionNamed(entry.definition, entry.key);
    return definition === entry.definition ? entry : { ...entry, definition };
  } catch (cause) {
    const expected = 'its definition must be the bytes of a JSON object, as encode() makes them';
    throw new GatewayFault('PLUGIN_FAILED', `${entry.kind} "${entry.key}" of ${entry.backend}: ${expected}`, { cause });
  }
}

/**
 * By key, then by backend, because hidden entries may share a key. By code units, so that every locale gives the same
 * order.
 */
function sorted<E extends CatalogEntry>(entries: readonly E[]): E[] {
  return [...entries].sort((a, b) => compare(a.key, b.key) || compare(a.backend, b.backend));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
