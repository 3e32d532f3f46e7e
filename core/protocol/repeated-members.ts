import type { JsonValue, RawJson } from '../contract/json.ts';

/**
 * Whether an object anywhere in `raw` names a member twice. `value` is the same JSON decoded.
 *
 * The decoder keeps the last of two equal names; a backend that gets the bytes may keep the first. What one reads and
 * another sends on must not differ. One pass over the bytes and one over the value: every member has its one colon
 * outside strings, so more colons than keys means a name that was lost.
 * Source: RFC 8259 §4 (behaviour of equal names is unpredictable).
 */
export function hasRepeatedMembers(raw: RawJson, value: JsonValue | undefined): boolean {
  return colonsOutsideStrings(raw) !== membersOf(value);
}

function colonsOutsideStrings(raw: RawJson): number {
  let colons = 0;
  for (let at = 0; at < raw.length; at++) {
    const byte = raw[at];
    if (byte === QUOTE) at = endOfString(raw, at);
    else if (byte === COLON) colons++;
  }
  return colons;
}

/** Position of the closing quote; the JSON is known to be sound. */
function endOfString(raw: RawJson, start: number): number {
  let at = start + 1;
  for (let near = Math.min(raw.length, at + SHORT_STRING); at < near; at++) {
    if (raw[at] === QUOTE) return at;
    if (raw[at] === BACKSLASH) at++;
  }
  for (;;) {
    const quote = raw.indexOf(QUOTE, at);
    if (quote === -1) return raw.length;
    let slashes = 0;
    while (quote - 1 - slashes >= at && raw[quote - 1 - slashes] === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return quote;
    at = quote + 1;
  }
}

/** Recursion is safe: the depth of what was decoded is bounded (MAX_JSON_DEPTH). */
function membersOf(value: JsonValue | undefined): number {
  if (typeof value !== 'object' || value === null) return 0;
  let members = 0;
  if (Array.isArray(value)) {
    for (const element of value as readonly JsonValue[]) members += membersOf(element);
    return members;
  }
  for (const inner of Object.values(value)) members += 1 + membersOf(inner);
  return members;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const SHORT_STRING = 48; // beyond it the native search is faster than the loop
