import { nearest } from '@toolmgr/core';
import { OWN_NAMESPACE, publishedName } from './records/record-from-entry.ts';
import type { Registry, RegistryEntry } from './registry-data.ts';

/** The result of a look-up: the entry, or why there is none. */
export type LookedUp =
  | { readonly kind: 'found'; readonly entry: RegistryEntry }
  /** Several entries end with this short name. */
  | { readonly kind: 'ambiguous'; readonly names: readonly string[] }
  /** The registry has it, but it is not used. */
  | { readonly kind: 'leftOut'; readonly reason: string }
  | { readonly kind: 'missing'; readonly nearest?: string };

/**
 * Finds an entry by its full name, by the name under which the listing publishes it, or by its last part when that is unique.
 *
 * Source: reference workload-api §6.2.
 */
export function lookUpEntry(registry: Pick<Registry, 'entries' | 'leftOut'>, name: string): LookedUp {
  for (const wanted of [name, unpublishedName(name)]) {
    const exact = registry.entries.find((entry) => entry.name === wanted);
    if (exact !== undefined) return { kind: 'found', entry: exact };
    const leftOut = registry.leftOut.find((each) => each.name === wanted);
    if (leftOut !== undefined) return { kind: 'leftOut', reason: leftOut.reason };
  }
  const byShortName = registry.entries.filter((entry) => shortName(entry.name) === name);
  const [first, second] = byShortName;
  if (first !== undefined && second === undefined) return { kind: 'found', entry: first };
  if (first !== undefined) return { kind: 'ambiguous', names: byShortName.map((entry) => entry.name) };
  const close = nearest(
    name,
    registry.entries.flatMap((entry) => [entry.name, shortName(entry.name)]),
  );
  return close === undefined ? { kind: 'missing' } : { kind: 'missing', nearest: close };
}

/** Entries whose name, title, description or a tag contains the query, in any case; all for an empty one. */
export function searchEntries(registry: Pick<Registry, 'entries'>, query: string): readonly RegistryEntry[] {
  const wanted = query.trim().toLowerCase();
  return registry.entries.filter((entry) => {
    const { title = '', description, tags = [] } = entry.image ?? entry.remote;
    return [entry.name, title, description, ...tags].some((text) => text.toLowerCase().includes(wanted));
  });
}

/** Whether a name means this entry: its own, the one in the listing, or its last part. */
export function isNameOfEntry(name: string, entry: string): boolean {
  return [entry, publishedName(entry), shortName(entry)].includes(name);
}

function unpublishedName(name: string): string {
  return name.startsWith(`${OWN_NAMESPACE}/`) ? shortName(name) : name;
}

/** `io.github.org/name` is `name`. */
export function shortName(name: string): string {
  return name.slice(name.indexOf('/') + 1);
}
