import { isObject } from '../../json/json-value.ts';
import type { Limits } from '../../limits.ts';
import { LIST_KINDS, type ListKind } from '../../mcp/methods.ts';
import type { BackendListing } from '../backend-manager.ts';

/** Lists of 2025-11-25 have no `ttlMs`. */
const LEGACY_TTL_MS = 60_000;
/** A list is read again after a day, whatever its backend says. */
const MAX_TTL_MS = 86_400_000;

/**
 * The lists that have to be read again: the backend does not announce their changes, and they are older than it allows,
 * and than `limits.listTtlMs`. `hears`: whether announcements of a kind are received.
 */
export function oldLists(
  listing: BackendListing,
  nowMs: number,
  limits: Pick<Limits, 'listTtlMs'>,
  hears: (kind: ListKind) => boolean = () => true,
): readonly ListKind[] {
  return LIST_KINDS.filter((kind) => {
    const read = listing.read?.[kind];
    if (read === undefined || (announces(listing, kind) && hears(kind))) return false;
    return nowMs - read.atMs >= Math.max(validMs(listing, read.ttlMs), limits.listTtlMs);
  });
}

/**
 * For how long a client may keep a list that has entries of these backends: `limits.listTtlMs`, or less when a backend
 * that announces no changes calls its list valid for less, and 0 for lists of an earlier run.
 */
export function clientTtlMs(
  listings: Iterable<BackendListing>,
  kind: ListKind,
  { listTtlMs }: Pick<Limits, 'listTtlMs'>,
): number {
  let ttlMs = listTtlMs;
  for (const listing of listings) {
    if (listing.isOfEarlierRun === true) return 0; // the backend may send others at any moment
    const read = listing.read?.[kind];
    if (read !== undefined && !announces(listing, kind)) ttlMs = Math.min(ttlMs, validMs(listing, read.ttlMs));
  }
  return ttlMs;
}

function validMs({ era }: BackendListing, ttlMs: number): number {
  return era === '2026-07-28' ? Math.min(ttlMs, MAX_TTL_MS) : LEGACY_TTL_MS;
}

function announces({ hello }: BackendListing, kind: ListKind): boolean {
  const capability = hello.capabilities[kind];
  return isObject(capability) && capability.listChanged === true;
}
