import type { RawJson } from '../contract/json.ts';
import { recurringText } from './recurring-text.ts';

/** Nesting deeper than this is refused: what walks through values recurses, and no MCP message is near it. */
export const MAX_JSON_DEPTH = 1_000;

/** The text is not JSON, or not the shape that was asked for. `offset` is a byte position. */
export class RawJsonError extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(`${message} at byte ${offset}`);
    this.name = 'RawJsonError';
    this.offset = offset;
  }
}

/** An object has more members than the scan was told to accept. */
export class TooManyMembers extends RawJsonError {
  constructor(max: number, offset: number) {
    super(`an object has more than ${max} members`, offset);
    this.name = 'TooManyMembers';
  }
}

/** A message has more objects and arrays than the scan was told to accept: each costs what decodes it some hundred bytes. */
export class TooManyContainers extends TooManyMembers {
  constructor(max: number, offset: number) {
    super(max, offset);
    this.name = 'TooManyContainers';
    this.message = `there are more than ${max} objects and arrays at byte ${offset}`;
  }
}

/** An array has more elements than the reader was told to accept. */
export class TooManyElements extends RawJsonError {
  constructor(max: number, offset: number) {
    super(`an array has more than ${max} elements`, offset);
    this.name = 'TooManyElements';
  }
}

export const QUOTE = 0x22;
const BACKSLASH = 0x5c;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
export const OPEN_BRACKET = 0x5b;
export const CLOSE_BRACKET = 0x5d;

const SPACE = 1;
const SCALAR = 2;
/** What a byte may be outside strings: white space, or part of a number or literal. */
const BYTE_KIND = (() => {
  const kinds = new Uint8Array(256);
  for (const char of ' \t\n\r') kinds[char.charCodeAt(0)] = SPACE;
  for (const char of '0123456789+-.eEtruefalsn') kinds[char.charCodeAt(0)] = SCALAR;
  return kinds;
})();

/** The text of a string from its opening quote to behind its closing one: a member name, or a value that comes often. */
export function readString(bytes: RawJson, start: number, end: number): string {
  for (let at = start + 1; at < end - 1; at++) {
    const byte = bytes[at] as number;
    if (byte === BACKSLASH) return JSON.parse(bytes.toString('utf8', start, end)) as string;
    if (byte > 0x7f) return readWideString(bytes, start, end);
  }
  return recurringText(bytes, start + 1, end - 1);
}

function readWideString(bytes: RawJson, start: number, end: number): string {
  const text = bytes.toString('utf8', start + 1, end - 1);
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;
}

/** @throws RawJsonError when there is anything but white space from there on */
export function expectEnd(bytes: RawJson, from: number): void {
  const at = skipSpace(bytes, from);
  if (at < bytes.length) throw new RawJsonError('unexpected text after the value', at);
}

/** The first position from there on that is no white space. */
export function skipSpace(bytes: RawJson, from: number): number {
  let at = from;
  while (at < bytes.length && BYTE_KIND[bytes[at] as number] === SPACE) at++;
  return at;
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

const SHORT_STRING = 48; // beyond it the native search is faster than the loop

/**
 * As skipString, by native search: base64 blobs of megabytes cost a memchr. Where quotes are escaped one after the other,
 * in JSON as text, a call for each costs ten times as much as the loop, so the loop goes on a little after each.
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

/** The position after the value that starts at `start`, its structure checked. @throws RawJsonError */
export function skipValue(bytes: RawJson, start: number): number {
  const first = bytes[start];
  if (first === QUOTE) return skipString(bytes, start);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return skipNested(bytes, start);
  let at = start;
  while (at < bytes.length && BYTE_KIND[bytes[at] as number] === SCALAR) at++;
  if (at === start) throw new RawJsonError('expected a value', start);
  return at;
}

/**
 * What a scan counts and is bounded by; one for all, since a scan is synchronous.
 *
 * `members` counts as they are passed, so that who looks before and after knows how many lie between, at any depth.
 * `maxMembers` is the most that one object may have; whoever begins a scan sets it. `containers` counts objects and arrays
 * inside values; `boundContainers` sets the most of them.
 */
export const passed = {
  members: 0,
  maxMembers: Number.POSITIVE_INFINITY,
  containers: 0,
  maxContainers: Number.POSITIVE_INFINITY,
};

/** Runs a scan that accepts at most `max` objects and arrays. */
export function boundContainers<T>(max: number, scan: () => T): T {
  passed.containers = 0;
  passed.maxContainers = max;
  try {
    return scan();
  } finally {
    passed.maxContainers = Number.POSITIVE_INFINITY;
  }
}

/** Closing byte expected at each open level; one buffer for all, used synchronously. */
const closers = new Uint8Array(MAX_JSON_DEPTH + 1);
/** Members of the object open at each level. */
const counts = new Float64Array(MAX_JSON_DEPTH + 1);

function skipNested(bytes: RawJson, start: number): number {
  let depth = 0;
  let at = start;
  const length = bytes.length;
  const { maxMembers } = passed;
  while (at < length) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) {
      at = skipString(bytes, at);
      continue;
    }
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (++depth > MAX_JSON_DEPTH) throw new RawJsonError('nested too deeply', at);
      if (++passed.containers > passed.maxContainers) throw new TooManyContainers(passed.maxContainers, at);
      counts[depth] = 0;
      closers[depth] = byte + 2; // '}' and ']' follow their openers by two in ASCII
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      if (closers[depth] !== byte) throw new RawJsonError('unexpected bracket', at);
      if (--depth === 0) return at + 1;
    } else if (byte === COLON) {
      passed.members++;
      const count = (counts[depth] as number) + 1;
      if (count > maxMembers) throw new TooManyMembers(maxMembers, at);
      counts[depth] = count;
    } else if (BYTE_KIND[byte] === 0 && byte !== COMMA) {
      throw new RawJsonError('unexpected character', at);
    }
    at++;
  }
  throw new RawJsonError('unterminated value', start);
}
