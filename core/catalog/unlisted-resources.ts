import type { BackendListing } from '../backend/backend-manager.ts';
import type { CatalogEntry } from '../contract/call.ts';
import { encode, isObject } from '../json/json-value.ts';
import { isAmbiguousUri } from './ambiguous-uri.ts';
import { MAX_MATCHED_URI, type UriMatcher, uriMatcher } from './uri-template.ts';
import { MAX_PARTS_PER_BACKEND, readTemplate } from './uri-template-parts.ts';

/** The target of a URI that no list contains: one backend, or none because several backends may have it. */
export type Unlisted = { readonly entry: CatalogEntry } | { readonly among: readonly string[] };

/** Finds the backend of a URI that no list contains. */
export type FindUnlisted = (uri: string) => Unlisted;

/**
 * Routes resources that backends serve without listing them (MCP resources: a list need not contain them all).
 *
 * A URI is routed to the only backend that lists resources or templates with its authority, else with its scheme; else
 * to the only backend that serves resources at all. It is never sent to several backends: a backend that answers for a
 * resource of another one would be believed. Resources that a backend lists but the catalogue hides stay hidden, and so
 * do URIs with dot segments, which policies and servers may read differently. A backend with very many hidden templates gets no unlisted
 * URI at all.
 * `shown`: the resources and templates of the catalogue. `backends`: the names of all configured backends.
 */
export function unlistedFinder(
  listings: ReadonlyMap<string, BackendListing>,
  shown: readonly CatalogEntry[],
  backends: readonly string[],
): FindUnlisted {
  let known: Known | undefined;
  return (uri) => {
    if (uri.length > MAX_MATCHED_URI || !URI.test(uri) || isAmbiguousUri(uri)) return NOWHERE;
    known ??= knownFrom(listings, shown, backends);
    return find(uri, known);
  };
}

const NOWHERE: Unlisted = { among: [] };

/** RFC 3986 §3.1: a scheme and a rest. The scheme must be lower-case, because policies compare it as text. */
const URI = /^[a-z][a-z0-9+.-]*:./;

/** Schemes that many backends use: for these the authority decides. */
const COMMON_SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:']);

interface Known {
  /** Backends that may get the request. */
  readonly able: ReadonlyMap<string, CatalogEntry>;
  /** Backends that may have the resource, including those that have not answered yet. */
  readonly possible: readonly string[];
  /** Scheme, or scheme and authority, to the backends that list something with it. */
  readonly owners: ReadonlyMap<string, ReadonlySet<string>>;
  isWithheld(uri: string): boolean;
}

function find(uri: string, known: Known): Unlisted {
  if (known.isWithheld(uri)) return NOWHERE;
  for (const place of placesOf(uri)) {
    const owners = known.owners.get(place);
    if (owners === undefined) continue;
    const [only = ''] = owners;
    const entry = owners.size === 1 ? known.able.get(only) : undefined;
    if (entry !== undefined) return { entry };
    if (owners.size === 1) return NOWHERE; // the catalogue hides all resources of its backend
  }
  const [sole] = known.able.values();
  if (known.possible.length === 1 && sole !== undefined) return { entry: sole };
  return { among: known.possible };
}

function knownFrom(
  listings: ReadonlyMap<string, BackendListing>,
  shown: readonly CatalogEntry[],
  backends: readonly string[],
): Known {
  const showing = new Set(shown.map(({ backend }) => backend));
  const visible = new Set(shown.map(({ backend, key }) => `${backend} ${key}`));
  const able = new Map<string, CatalogEntry>();
  const owners = new Map<string, Set<string>>();
  const hidden = new Set<string>();
  const hiddenTemplates: UriMatcher[] = [];
  const crowded: string[] = [];
  for (const listing of listings.values()) {
    const { backend, resources, templates, hello } = listing;
    const hasSome = resources.length + templates.length > 0;
    if (isObject(hello.capabilities.resources) && (!hasSome || showing.has(backend)))
      able.set(backend, entryFor(listing));
    for (const { key } of [...resources, ...templates]) {
      for (const place of placesOf(key)) owners.set(place, (owners.get(place) ?? new Set()).add(backend));
    }
    const isHidden = ({ key }: { readonly key: string }) => !visible.has(`${backend} ${key}`);
    for (const { key } of resources.filter(isHidden)) hidden.add(key);
    const matchers = matchersOf(templates.filter(isHidden));
    if (matchers !== undefined) hiddenTemplates.push(...matchers);
    else if (able.delete(backend)) crowded.push(backend);
  }
  return {
    able,
    possible: [...able.keys(), ...crowded, ...backends.filter((name) => !listings.has(name))].sort(),
    owners,
    isWithheld: (uri) => hidden.has(uri) || hiddenTemplates.some((matches) => matches(uri)),
  };
}

/** `undefined` when the templates have so many parts together that matching them would hold up every reader. */
function matchersOf(templates: readonly { readonly key: string }[]): readonly UriMatcher[] | undefined {
  const read = templates.map(({ key }) => readTemplate(key)).filter((parts) => parts !== undefined);
  const count = read.reduce((sum, { length }) => sum + length, 0);
  return count > MAX_PARTS_PER_BACKEND ? undefined : read.map(uriMatcher);
}

/**
 * The parts of a URI or template that decide, narrowest first: its authority unless it contains a variable, then its
 * scheme.
 */
function placesOf(uri: string): readonly string[] {
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(uri)?.[0].toLowerCase();
  if (scheme === undefined) return [];
  const authority = /^\/\/([^/?#{]*)(?=[/?#]|$)/.exec(uri.slice(scheme.length))?.[1];
  const places = authority === undefined ? [] : [`${scheme}//${authority.toLowerCase()}`];
  return COMMON_SCHEMES.has(scheme) ? places : [...places, scheme];
}

/**
 * One entry for all such resources of a backend, like that of a template: clients choose the URIs, so the number of
 * entries must not grow with them.
 */
function entryFor({ backend, era }: BackendListing): CatalogEntry {
  return {
    kind: 'template',
    key: ANY_URI,
    backend,
    original: ANY_URI,
    era,
    definition: encode({ uriTemplate: ANY_URI, name: ANY_URI }),
    shapedBy: ['unlisted'],
  };
}

const ANY_URI = '{+uri}';
