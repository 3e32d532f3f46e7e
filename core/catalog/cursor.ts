import type { EntryKind } from '../contract/catalog-entry.ts';
import { isObject, parsedJson } from '../json/json-value.ts';

/** Where a page starts: after `skip` entries whose keys start with `after`, or after the key `after`. */
export interface Position {
  /** The last key sent, or its start when the key is too long for a cursor. */
  readonly after: string;
  /** Set when `after` is only the start of a key: the number of entries with this start that were sent. */
  readonly skip?: number;
}

/** Entries of one list, sorted by key. */
type Keyed = readonly { readonly key: string }[];

/**
 * The cursor of the page that follows entry `last`: base64url of a small JSON, at most 512 characters. It contains keys
 * instead of positions, so it stays valid when the list is rebuilt.
 */
export function cursorAfter(kind: EntryKind, entries: Keyed, last: number): string {
  const key = entries[last]?.key ?? '';
  const whole = encodeCursor(kind, { after: key });
  if (whole.length <= MAX_CURSOR) return whole;
  const after = key.slice(0, LONG_KEY_START);
  return encodeCursor(kind, { after, skip: last + 1 - firstFrom(entries, after) });
}

/** The index of the first entry of the page; `undefined` for a malformed cursor or a cursor of another list. */
export function startOf(cursor: string, kind: EntryKind, entries: Keyed): number | undefined {
  const position = decodeCursor(cursor, kind);
  if (position === undefined) return undefined;
  const from = firstFrom(entries, position.after);
  if (position.skip !== undefined) return Math.min(entries.length, from + position.skip);
  return entries[from]?.key === position.after ? from + 1 : from;
}

function encodeCursor(kind: EntryKind, { after, skip }: Position): string {
  return Buffer.from(JSON.stringify({ k: kind, a: after, ...(skip === undefined ? {} : { n: skip }) })).toString(
    'base64url',
  );
}

function decodeCursor(cursor: string, kind: EntryKind): Position | undefined {
  if (cursor.length > MAX_CURSOR || !BASE64URL.test(cursor)) return undefined;
  const value = parsedJson(Buffer.from(cursor, 'base64url'));
  if (!isObject(value) || value.k !== kind || typeof value.a !== 'string') return undefined;
  const { a: after, n: skip } = value;
  if (skip === undefined) return { after };
  return typeof skip === 'number' && Number.isSafeInteger(skip) && skip >= 0 ? { after, skip } : undefined;
}

/** Index of the first entry whose key is not below `key`. */
function firstFrom(entries: Keyed, key: string): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((entries[middle]?.key ?? '') < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

const MAX_CURSOR = 512;
const LONG_KEY_START = 50; // at most 6 bytes per character (\udXXX escapes), plus a third for base64: 464 characters with the rest
const BASE64URL = /^[A-Za-z0-9_-]+$/;
