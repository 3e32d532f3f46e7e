import type { RawJson } from '../contract/json.ts';

/**
 * Whether JSON text has an escape of one half of a surrogate pair, e.g. `"\ud800"`. Such a string is not Unicode text: many
 * readers refuse it, or end the connection.
 *
 * Shape: valid JSON in UTF-8. Only text with `\ud` is read byte by byte.
 */
export function hasLoneSurrogate(json: RawJson): boolean {
  if (json.indexOf(BACKSLASH) === -1) return false; // most text; a search for one byte is ten times cheaper than for a text
  const first = firstOf(json.indexOf('\\ud'), json.indexOf('\\uD'));
  if (first === -1) return false;
  // Backwards over backslashes, because the one that was found may be escaped itself.
  let at = first;
  while (at > 0 && json[at - 1] === BACKSLASH) at--;
  while (at < json.length) {
    if (json[at] !== BACKSLASH) at++;
    else if (json[at + 1] !== SMALL_U) at += 2;
    else {
      const half = halfAt(json, at);
      if (half === 'low' || (half === 'high' && halfAt(json, at + 6) !== 'low')) return true;
      at += half === 'high' ? 12 : 6;
    }
  }
  return false;
}

function firstOf(one: number, other: number): number {
  return one === -1 || other === -1 ? Math.max(one, other) : Math.min(one, other);
}

/** Which half of a pair the escape at a place is. */
function halfAt(json: RawJson, at: number): 'high' | 'low' | undefined {
  if (json[at] !== BACKSLASH || json[at + 1] !== SMALL_U || ((json[at + 2] ?? 0) | CASE) !== SMALL_D) return undefined;
  const digit = (json[at + 3] ?? 0) | CASE;
  if (digit >= SMALL_C) return 'low'; // dc00 to dfff
  return digit >= EIGHT ? 'high' : undefined; // d800 to dbff
}

const BACKSLASH = 0x5c;
const SMALL_U = 0x75;
const SMALL_C = 0x63;
const SMALL_D = 0x64;
const EIGHT = 0x38;
const CASE = 0x20; // makes letters small, and leaves digits as they are
