import { isUtf8 } from 'node:buffer';
import type { BackendListing, ListedItem } from '../backend/backend-manager.ts';
import type { CatalogEntry } from '../contract/call.ts';
import type { CatalogDraft } from '../contract/catalog-draft.ts';
import type { EntryKind } from '../contract/catalog-entry.ts';
import type { RawJson } from '../contract/json.ts';
import { RawJsonError } from '../json/json-errors.ts';
import { decodeObject } from '../json/json-value.ts';

/**
 * Everything that backends listed, under the original names: backends sorted, items in the order of the backend.
 *
 * A name that one backend lists twice is used once, an item that is not a JSON object is dropped; both give a warning.
 * Reserved `_meta` of an item is kept: it is data about the tool, not metadata of a message.
 */
export function draftFromListings(listings: ReadonlyMap<string, BackendListing>): CatalogDraft {
  const warnings: string[] = [];
  const sorted = [...listings.values()].sort((a, b) => (a.backend < b.backend ? -1 : 1));
  const collect = <K extends EntryKind>(kind: K): CatalogEntry<K>[] =>
    sorted.flatMap((listing) => entriesOf(kind, listing, warnings));
  return {
    tools: collect('tool'),
    prompts: collect('prompt'),
    resources: collect('resource'),
    templates: collect('template'),
    warnings,
  };
}

function entriesOf<K extends EntryKind>(kind: K, listing: BackendListing, warnings: string[]): CatalogEntry<K>[] {
  const byKey = new Map<string, CatalogEntry<K>>();
  for (const item of itemsOf(kind, listing)) {
    if (byKey.has(item.key)) {
      warnings.push(`backend ${listing.backend} lists ${kind} "${item.key}" more than once: the first one is used`);
      continue;
    }
    const entry = entryFrom(kind, listing, item);
    if (entry === undefined)
      warnings.push(
        `backend ${listing.backend} lists ${kind} "${item.key}" with a definition that is not a JSON object`,
      );
    else byKey.set(item.key, entry);
  }
  return [...byKey.values()];
}

function itemsOf(kind: EntryKind, listing: BackendListing): readonly ListedItem[] {
  return { tool: listing.tools, prompt: listing.prompts, resource: listing.resources, template: listing.templates }[
    kind
  ];
}

/** Cache of entries by item: an unchanged listing costs nothing in a rebuild. */
const known = new WeakMap<ListedItem, CatalogEntry>();

function entryFrom<K extends EntryKind>(
  kind: K,
  { backend, era }: BackendListing,
  item: ListedItem,
): CatalogEntry<K> | undefined {
  const found = known.get(item);
  if (found?.kind === kind && found.backend === backend && found.era === era) return found as CatalogEntry<K>;
  const { key, mirrored, definition } = item;
  if (!isJsonObject(definition)) return undefined;
  const entry: CatalogEntry<K> = {
    kind,
    key,
    backend,
    original: key,
    era,
    definition,
    shapedBy: [],
    ...(mirrored === undefined ? {} : { mirrored }),
  };
  known.set(item, entry);
  return entry;
}

/** Every item is decoded once: one malformed item on a page would break the lists of all backends. */
function isJsonObject(definition: RawJson): boolean {
  try {
    return isUtf8(definition) && decodeObject(definition) !== undefined;
  } catch (cause) {
    if (cause instanceof RawJsonError || cause instanceof SyntaxError) return false;
    throw cause;
  }
}
