import type { CatalogDraft, CatalogEntry, ResourceEntry } from '../contract/tool.ts';
import type { CatalogConflict } from './catalog.ts';
import { decidedClaim } from './collisions.ts';
import { type UriMatcher, uriMatcher } from './uri-template.ts';
import { readTemplate } from './uri-template-parts.ts';

/** Which backend a URI belongs to, by all that backends list. */
export interface UriClaims {
  /** The entry that answers for a URI; `undefined` when nobody claims it, or several do and nothing decides. */
  find(uri: string): CatalogEntry | undefined;
  /** Backends that all claim a URI which therefore none of them gets. */
  contenders(uri: string): readonly string[];
  /** The most steps that looking a URI up can take. */
  steps(uri: string): number;
  /** Sentences about templates that no URI is matched against. */
  readonly unmatchable: readonly string[];
}

/**
 * Reads the claims of visible resources and templates, those included that a list leaves out because several claim them.
 *
 * A backend's own resource goes before its templates, which go in the order of their texts. A template that does not fix
 * a scheme claims only what nobody else does. Of what backends claim together see {@link decidedClaim}.
 * Time of a look-up: linear in the URI for each part of the templates that begin like it, which are bounded per backend.
 */
export function readUriClaims({ resources, templates }: Pick<CatalogDraft, 'resources' | 'templates'>): UriClaims {
  const exact = Map.groupBy(resources.filter(isVisible), ({ key }) => key);
  const { matchers, unmatchable } = compile(templates.filter(isVisible));
  const claimsOn = (uri: string): readonly CatalogEntry[] => {
    const named = exact.get(uri) ?? [];
    const matching = matchers.filter(({ matches }) => matches(uri));
    const firm = matching.filter(({ isFirm }) => isFirm).map(({ entry }) => entry);
    const claims = [...named, ...firm];
    return claims.length > 0 ? claims : matching.map(({ entry }) => entry);
  };
  return {
    find: (uri) => decidedClaim(claimsOn(uri)),
    contenders(uri) {
      const claims = claimsOn(uri);
      return decidedClaim(claims) === undefined ? [...new Set(claims.map(({ backend }) => backend))].sort() : [];
    },
    steps: (uri) =>
      matchers.reduce((sum, { prefix, parts }) => sum + (uri.startsWith(prefix) ? parts * uri.length : 1), 1),
    unmatchable,
  };
}

/**
 * The resources without those that a template of another backend claims too, with a sentence for each. Takes a
 * bounded number of steps: what is left is listed, and not readable all the same.
 */
export function withoutContested(
  resources: readonly ResourceEntry[],
  templates: readonly CatalogEntry[],
  claims: UriClaims,
  errors: string[],
  conflicts: CatalogConflict[],
): readonly ResourceEntry[] {
  if (!templates.some(isVisible)) return resources;
  let steps = MAX_STEPS;
  return resources.filter((resource) => {
    if (!isVisible(resource) || resource.run !== undefined || steps <= 0) return true;
    steps -= claims.steps(resource.key);
    const found = claims.find(resource.key);
    if (found === resource) return true;
    const { key, backend } = resource;
    if (found !== undefined) {
      errors.push(`resource "${key}" of ${backend} is dropped: a template of ${found.backend} goes first`);
      return false;
    }
    const backends = claims.contenders(key);
    errors.push(`resource "${key}" is dropped: ${backends.join(', ')} all claim that URI, by a list or a template`);
    conflicts.push({ kind: 'resource', name: key, backends });
    return false;
  });
}

const MAX_STEPS = 5_000_000; // of one build, some 10 ms: most templates are let go at their first characters

interface Matcher {
  readonly matches: UriMatcher;
  /** What every URI of it begins with. */
  readonly prefix: string;
  readonly parts: number;
  readonly entry: CatalogEntry;
  /** It fixes a scheme. */
  readonly isFirm: boolean;
}

function compile(templates: readonly CatalogEntry[]) {
  const matchers: Matcher[] = [];
  const unmatchable: string[] = [];
  const partsOf = new Map<string, number>();
  const sorted = [...templates].sort((a, b) => compare(a.key, b.key) || compare(a.backend, b.backend));
  for (const entry of sorted) {
    const parts = readTemplate(entry.key);
    const count = (partsOf.get(entry.backend) ?? 0) + (parts?.length ?? 0);
    if (parts !== undefined && count <= MAX_PARTS_PER_BACKEND) {
      partsOf.set(entry.backend, count);
      const prefix = parts[0]?.kind === 'literal' ? parts[0].text : '';
      const isFirm = prefix.includes(':');
      matchers.push({ matches: uriMatcher(parts), prefix, parts: parts.length, entry, isFirm });
      continue;
    }
    const why = parts === undefined ? '' : `: its backend has templates of more than ${MAX_PARTS_PER_BACKEND} parts`;
    unmatchable.push(
      `template "${entry.key}" of ${entry.backend} is listed, but no URI can be matched against it${why}`,
    );
  }
  return { matchers, unmatchable };
}

/** With the longest URI that is matched it bounds what the templates of one backend cost everybody who reads. */
const MAX_PARTS_PER_BACKEND = 1024;

function isVisible({ hiddenBy }: CatalogEntry): boolean {
  return hiddenBy === undefined;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
