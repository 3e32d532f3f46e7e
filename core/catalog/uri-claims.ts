import type { CatalogEntry, ResourceEntry } from '../contract/call.ts';
import type { CatalogDraft } from '../contract/catalog-draft.ts';
import type { CatalogConflict } from './catalog.ts';
import { winningClaim } from './collisions.ts';
import { type UriMatcher, uriMatcher } from './uri-template.ts';
import { MAX_PARTS_PER_BACKEND, readTemplate } from './uri-template-parts.ts';

/** Which backend a URI belongs to, according to all lists. */
export interface UriClaims {
  /** The entry of a URI; `undefined` when no backend claims it, or several do and no priority decides. */
  find(uri: string): CatalogEntry | undefined;
  /** Backends that claim a URI together; it is given to none of them. */
  contenders(uri: string): readonly string[];
  /** The maximum number of steps of a look-up of the URI. */
  steps(uri: string): number;
  /** Sentences about templates that are not matched against URIs. */
  readonly unmatchable: readonly string[];
}

/**
 * Reads the claims of visible resources and templates, including those that are not listed because several backends
 * claim them.
 *
 * A backend's own resource wins over its templates, which are tried in the order of their texts. A template without a
 * fixed scheme claims only URIs that nothing else claims. Between backends see {@link winningClaim}.
 * Time of a look-up: linear in the URI for each part of the templates with a matching prefix; their number is limited
 * per backend.
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
    find: (uri) => winningClaim(claimsOn(uri)),
    contenders(uri) {
      const claims = claimsOn(uri);
      return winningClaim(claims) === undefined ? [...new Set(claims.map(({ backend }) => backend))].sort() : [];
    },
    steps: (uri) =>
      matchers.reduce((sum, { prefix, parts }) => sum + (uri.startsWith(prefix) ? parts * uri.length : 1), 1),
    unmatchable,
  };
}

/**
 * The resources without those that a template of another backend also claims, with a sentence for each. The number of
 * steps is limited: contested resources beyond the limit are listed, but cannot be read.
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
      errors.push(`resource "${key}" of ${backend} is dropped: a template of ${found.backend} has priority`);
      return false;
    }
    const backends = claims.contenders(key);
    errors.push(`resource "${key}" is dropped: ${backends.join(', ')} all claim that URI in their lists or templates`);
    conflicts.push({ kind: 'resource', name: key, backends });
    return false;
  });
}

const MAX_STEPS = 5_000_000; // per build, about 10 ms: most templates fail at their first characters

interface Matcher {
  readonly matches: UriMatcher;
  /** The literal prefix of all its URIs. */
  readonly prefix: string;
  readonly parts: number;
  readonly entry: CatalogEntry;
  /** It has a fixed scheme. */
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

function isVisible({ hiddenBy, held }: CatalogEntry): boolean {
  return hiddenBy === undefined && held === undefined;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
