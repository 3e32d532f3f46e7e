import type { CatalogEntry } from '../contract/call.ts';
import type { EntryKind } from '../contract/catalog-entry.ts';
import type { Era } from '../contract/era.ts';
import type { JsonObject, RawJson } from '../contract/json.ts';
import { encode } from '../json/json-value.ts';
import type { Limits } from '../limits.ts';
import { META } from '../mcp/meta.ts';
import { cursorAfter, startOf } from './cursor.ts';
import { itemBytes } from './entry-definition.ts';

/** What a page needs besides its entries. */
export interface PageParts {
  readonly serverInfo: JsonObject;
  readonly limits: Pick<Limits, 'pageSize'>;
  /** For how long a modern client may keep the page. */
  readonly ttlMs: number;
  /** More members of the page's `_meta`. */
  readonly meta?: JsonObject;
}

/**
 * One page of a list as a whole result object of the era; `undefined` for a malformed cursor or a cursor of another
 * list. The bytes of the entries are joined without encoding them again.
 *
 * Shape: `entries` are of one kind and sorted by key. Modern pages have `resultType`, `ttlMs`, `cacheScope:
 * "private"` and `_meta` with the server's info; legacy pages have none of these and ten times as many entries.
 * Source: MCP 2025-11-25 pagination; MCP 2026-07-28 caching and results.
 */
export function pageOf(
  entries: readonly CatalogEntry[],
  kind: EntryKind,
  era: Era,
  cursor: string | undefined,
  parts: PageParts,
): RawJson | undefined {
  const start = cursor === undefined ? 0 : startOf(cursor, kind, entries);
  return start === undefined ? undefined : pageFrom(entries, kind, era, start, parts);
}

function pageFrom(
  entries: readonly CatalogEntry[],
  kind: EntryKind,
  era: Era,
  start: number,
  { serverInfo, limits, ttlMs, meta }: PageParts,
): RawJson {
  const size = era === '2026-07-28' ? limits.pageSize : limits.pageSize * LEGACY_PAGE_FACTOR;
  const end = Math.min(entries.length, start + size);
  const parts: RawJson[] = [Buffer.from(`{"${LISTED_AS[kind]}":[`)];
  for (const entry of entries.slice(start, end)) {
    if (parts.length > 1) parts.push(COMMA);
    parts.push(itemBytes(entry, era));
  }
  const nextCursor = end < entries.length ? { nextCursor: cursorAfter(kind, entries, end - 1) } : {};
  const hints: JsonObject =
    era === '2026-07-28'
      ? { ttlMs, cacheScope: 'private', resultType: 'complete', _meta: { [META.serverInfo]: serverInfo, ...meta } }
      : { ...(meta === undefined ? {} : { _meta: meta }) };
  const rest = encode({ ...nextCursor, ...hints }).subarray(1);
  parts.push(rest.length === 1 ? LIST_END : LIST_END_MORE, rest);
  return Buffer.concat(parts);
}

/** As {@link PageParts}; the time may differ by list. */
export interface CachedPageParts extends Omit<PageParts, 'ttlMs'> {
  ttlMs(kind: EntryKind): number;
}

/** Pages of one catalogue, serialised once: first pages are kept for ever, later ones within a size limit. */
export interface PageCache {
  page(kind: EntryKind, era: Era, cursor: string | undefined): RawJson | undefined;
}

/** Caches the pages of lists that never change. */
export function createPageCache(
  visible: (kind: EntryKind) => readonly CatalogEntry[],
  { ttlMs, ...shared }: CachedPageParts,
): PageCache {
  const first = new Map<string, RawJson>();
  const later = new Map<string, RawJson>();
  let laterBytes = 0;
  const keep = (key: string, page: RawJson): void => {
    if (!later.delete(key)) laterBytes += page.length; // a requested page becomes the most recently used
    later.set(key, page);
    for (const [oldest, { length }] of later) {
      if (laterBytes <= MAX_LATER_BYTES) return;
      later.delete(oldest);
      laterBytes -= length;
    }
  };
  return {
    page(kind, era, cursor) {
      const entries = visible(kind);
      const list = `${kind} ${era}`;
      const parts: PageParts = { ...shared, ttlMs: ttlMs(kind) };
      if (cursor === undefined) {
        const ready = first.get(list) ?? pageFrom(entries, kind, era, 0, parts);
        first.set(list, ready);
        return ready;
      }
      const start = startOf(cursor, kind, entries);
      if (start === undefined) return undefined;
      const key = `${list} ${start}`; // not the cursor: clients can make many cursors for the same position
      const page = later.get(key) ?? pageFrom(entries, kind, era, start, parts);
      keep(key, page);
      return page;
    },
  };
}

const MAX_LATER_BYTES = 16_777_216;
const LEGACY_PAGE_FACTOR = 10; // many legacy clients read only one page
const LISTED_AS = { tool: 'tools', prompt: 'prompts', resource: 'resources', template: 'resourceTemplates' } as const;
const COMMA = Buffer.from(',');
const LIST_END = Buffer.from(']');
const LIST_END_MORE = Buffer.from('],');
