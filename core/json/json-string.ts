import type { RawJson } from '../contract/json.ts';
import { RawJsonError } from './json-errors.ts';

/** The text of a string from its opening quote to after its closing one: a member name, or a short value. */
export function readString(bytes: RawJson, start: number, end: number): string {
  for (let at = start + 1; at < end - 1; at++) {
    const byte = bytes[at] as number;
    if (byte === BACKSLASH) return JSON.parse(bytes.toString('utf8', start, end)) as string;
    if (byte > 0x7f) return readWideString(bytes, start, end);
  }
  return internedText(bytes, start + 1, end - 1);
}

function readWideString(bytes: RawJson, start: number, end: number): string {
  const text = bytes.toString('utf8', start + 1, end - 1);
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;
}

/** The position after the string that starts at `start`. @throws RawJsonError when it has no end */
export function skipString(bytes: RawJson, start: number): number {
  let at = start + 1;
  for (let n = 0; n < SHORT_STRING; n++, at++) {
    const byte = bytes[at];
    if (byte === QUOTE) return at + 1;
    if (byte === BACKSLASH) at++;
    else if (byte === undefined) throw new RawJsonError('unterminated string', start);
  }
  return skipLongString(bytes, start, at);
}

const SHORT_STRING = 48; // for longer strings the native search is faster than the loop

/**
 * Like skipString, by native search: fast for base64 texts of megabytes. Where many quotes are escaped (JSON inside a
 * string), one call per quote costs ten times as much as the loop, so the loop continues for a while after each.
 */
function skipLongString(bytes: RawJson, start: number, from: number): number {
  let at = from;
  for (;;) {
    const quote = bytes.indexOf(QUOTE, at);
    if (quote === -1) throw new RawJsonError('unterminated string', start);
    let slashes = 0;
    while (quote - 1 - slashes >= at && bytes[quote - 1 - slashes] === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return quote + 1;
    at = quote + 1;
    for (let n = 0; n < SHORT_STRING; n++, at++) {
      const byte = bytes[at];
      if (byte === QUOTE) return at + 1;
      if (byte === BACKSLASH) at++;
      else if (byte === undefined) throw new RawJsonError('unterminated string', start);
    }
  }
}

const BACKSLASH = 0x5c;
const QUOTE = 0x22;

/**
 * Short ASCII texts that occur in every message: member names, header names, tool names. Each string is created once
 * and then found by its bytes, which is cheaper than creating it.
 *
 * One slot for each hash: another text with the same slot replaces it, so hostile input only costs the creation.
 */
export function internedText(bytes: Buffer, start: number, end: number): string {
  const length = end - start;
  if (length > MAX_LENGTH) return bytes.toString('latin1', start, end);
  let hash = length;
  for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + (bytes[at] as number)) | 0;
  const slot = (hash ^ (hash >>> 13)) & (SLOTS - 1);
  const known = slots[slot];
  if (known !== undefined && isSame(known, bytes, start, length)) return known;
  const text = bytes.toString('latin1', start, end);
  slots[slot] = text;
  return text;
}

const MAX_LENGTH = 64;
const SLOTS = 1024;
const slots: (string | undefined)[] = new Array(SLOTS).fill(undefined);

function isSame(text: string, bytes: Buffer, start: number, length: number): boolean {
  if (text.length !== length) return false;
  for (let n = 0; n < length; n++) if (text.charCodeAt(n) !== bytes[start + n]) return false;
  return true;
}

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

const SMALL_U = 0x75;
const SMALL_C = 0x63;
const SMALL_D = 0x64;
const EIGHT = 0x38;
const CASE = 0x20; // makes letters small, and leaves digits as they are
