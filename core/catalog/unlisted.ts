import type { BackendListing } from '../backend/backend-manager.ts';
import type { CatalogEntry } from '../contract/tool.ts';
import { encode, isObject } from '../json/raw-json.ts';
import { isAmbiguousUri } from './ambiguous-uri.ts';
import { compileUriTemplate, MAX_MATCHED_URI, type UriMatcher } from './uri-template.ts';

/** Where a URI leads that no list names: to one backend, or nowhere because any of several might have it. */
export type Unlisted = { readonly entry: CatalogEntry } | { readonly among: readonly string[] };

/** Finds the backend of a URI that no list names. */
export type FindUnlisted = (uri: string) => Unlisted;

/**
 * Routes resources that backends serve without listing them (MCP resources: a list need not name them all).
 *
 * A URI leads to the backend that alone lists resources or templates of its authority, else of its scheme; else to the
 * only backend that serves resources at all. Nothing is asked of several backends: one that answers for what is another's
 * would be believed. What a backend does list and the catalogue does not show stays hidden, and so does a URI with
 * dot segments, which policies and servers may read differently.
 * `shown`: the resources and templates of the catalogue. `workloads`: all configured backends, by name.
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

/** RFC 3986 §3.1, with something after the scheme, which is lower-case: a policy that names it would not match another case. */
const URI = /^[a-z][a-z0-9+.-]*:./;

/** Schemes that are everybody's: what counts there is the authority. */
const COMMON_SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:']);

interface Known {
  /** Backends that may be asked. */
  readonly able: ReadonlyMap<string, CatalogEntry>;
  /** Backends that may have it, those among them that have not answered yet. */
  readonly possible: readonly string[];
  /** Scheme, or scheme and authority, to the backends that list something there. */
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
    if (owners.size === 1) return NOWHERE; // its owner shows nothing here
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
    for (const { key } of templates.filter(isHidden)) hiddenTemplates.push(compileUriTemplate(key) ?? never);
  }
  return {
    able,
    possible: [...able.keys(), ...backends.filter((name) => !listings.has(name))].sort(),
    owners,
    isWithheld: (uri) => hidden.has(uri) || hiddenTemplates.some((matches) => matches(uri)),
  };
}

function never(): boolean {
  return false;
}

/** Where a URI or a template lies, the narrowest first: its authority when it is no variable, then its scheme. */
function placesOf(uri: string): readonly string[] {
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(uri)?.[0].toLowerCase();
  if (scheme === undefined) return [];
  const authority = /^\/\/([^/?#{]*)(?=[/?#]|$)/.exec(uri.slice(scheme.length))?.[1];
  const places = authority === undefined ? [] : [`${scheme}//${authority.toLowerCase()}`];
  return COMMON_SCHEMES.has(scheme) ? places : [...places, scheme];
}

/**
 * One entry for all such resources of a backend, as a template is: clients choose their URIs, and what is kept or counted
 * by entry must not grow with them.
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
