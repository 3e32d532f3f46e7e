import { decodeObject, type Era, type JsonObject } from '@toolmgr/core';
import type { BackendListing } from '../../core/backend/backend-manager.ts';
import { type BuildParts, type BuiltCatalog, buildCatalog } from '../../core/catalog/build.ts';
import type { Catalog } from '../../core/catalog/catalog.ts';
import type { EntryKind } from '../../core/contract/catalog-entry.ts';

/** Builds a catalogue of the base class like the gateway, without plugins unless `shape` is given. */
export function built(
  listings: ReadonlyMap<string, BackendListing>,
  { limits, ...parts }: Partial<Omit<BuildParts, 'limits'>> & { readonly limits?: Partial<BuildParts['limits']> } = {},
): BuiltCatalog {
  return buildCatalog('', listings, {
    backends: () => [...listings.keys()],
    shape: (draft) => draft,
    serverInfo: { name: 'gateway', version: '1' },
    limits: { pageSize: 1000, listTtlMs: 0, nameBytes: 1024, uriBytes: 8192, ...limits },
    ...parts,
  });
}

/** Decodes one page; fails the test when there is none. */
export function pageValue(catalog: Pick<Catalog, 'page'>, kind: EntryKind, era: Era, cursor?: string): JsonObject {
  const page = catalog.page(kind, era, cursor);
  if (page === undefined) throw new Error(`no page of ${kind} for ${cursor}`);
  return decodeObject(page) ?? {};
}

/** Advertised keys of one kind, in order. */
export function keysOf(catalog: Pick<Catalog, 'visible'>, kind: EntryKind): string[] {
  return catalog.visible(kind).map(({ key }) => key);
}
