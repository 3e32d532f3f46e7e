import type { RawJson } from '../contract/json.ts';
import { RawJsonError, TooManyContainers, TooManyMembers, TooManyValues } from './json-errors.ts';
import { skipString } from './json-string.ts';

/** Deeper nesting is refused: code that walks through values recurses, and no MCP message needs it. */
export const MAX_JSON_DEPTH = 1_000;

/** One pass over one JSON text: its counts and their limits. */
export class JsonScan {
  readonly bytes: RawJson;
  /** Maximum number of members of one object. */
  readonly maxMembers: number;
  /** Maximum number of objects and arrays inside skipped values. */
  readonly maxContainers: number;
  /** Maximum number of values of any kind: members, and elements after the first of their array. */
  readonly maxValues: number;
  /** Members read so far, at any depth; duplicate names count each. */
  members = 0;
  /** Objects and arrays read so far inside skipped values. */
  containers = 0;
  /** Values read so far. */
  values = 0;

  constructor(
    bytes: RawJson,
    maxMembers = Number.POSITIVE_INFINITY,
    maxContainers = Number.POSITIVE_INFINITY,
    maxValues = Number.POSITIVE_INFINITY,
  ) {
    this.bytes = bytes;
    this.maxMembers = maxMembers;
    this.maxContainers = maxContainers;
    this.maxValues = maxValues;
  }
}

/** The position after the value that starts at `start`; checks its structure. @throws RawJsonError */
export function skipValue(scan: JsonScan, start: number): number {
  const { bytes } = scan;
  const first = bytes[start];
  if (first === QUOTE) return skipString(bytes, start);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return skipNested(scan, start);
  let at = start;
  while (at < bytes.length && BYTE_KIND[bytes[at] as number] === SCALAR) at++;
  if (at === start) throw new RawJsonError('expected a value', start);
  return at;
}

/** Closing byte expected at each open level. Scratch memory, valid during one call of `skipNested`. */
const closers = new Uint8Array(MAX_JSON_DEPTH + 1);
/** Members of the object open at each level. Scratch memory as well. */
const counts = new Float64Array(MAX_JSON_DEPTH + 1);

function skipNested(scan: JsonScan, start: number): number {
  const { bytes, maxMembers, maxContainers, maxValues } = scan;
  const length = bytes.length;
  let { members, containers, values } = scan;
  let depth = 0;
  let at = start;
  while (at < length) {
    const byte = bytes[at] as number;
    if (BYTE_KIND[byte] !== 0) {
      // first, and in a loop of its own, because a long number or indentation has many
      do at++;
      while (at < length && BYTE_KIND[bytes[at] as number] !== 0);
      continue;
    }
    if (byte === QUOTE) {
      at = skipString(bytes, at);
      continue;
    }
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (++depth > MAX_JSON_DEPTH) throw new RawJsonError('nested too deeply', at);
      if (++containers > maxContainers) throw new TooManyContainers(maxContainers, at);
      counts[depth] = 0;
      closers[depth] = byte + 2; // '}' and ']' follow their openers by two in ASCII
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      if (closers[depth] !== byte) throw new RawJsonError('unexpected bracket', at);
      if (--depth === 0) {
        scan.members = members;
        scan.containers = containers;
        scan.values = values;
        return at + 1;
      }
    } else if (byte === COLON) {
      members++;
      const count = (counts[depth] as number) + 1;
      if (count > maxMembers) throw new TooManyMembers(maxMembers, at);
      counts[depth] = count;
    } else if (byte === COMMA) {
      if (++values > maxValues) throw new TooManyValues(maxValues, at);
    } else {
      throw new RawJsonError('unexpected character', at);
    }
    at++;
  }
  throw new RawJsonError('unterminated value', start);
}

/** @throws RawJsonError when anything but white space follows */
export function expectEnd(bytes: RawJson, from: number): void {
  const at = skipSpace(bytes, from);
  if (at < bytes.length) throw new RawJsonError('unexpected text after the value', at);
}

/** The first position from `from` that is not white space. */
export function skipSpace(bytes: RawJson, from: number): number {
  let at = from;
  while (at < bytes.length && BYTE_KIND[bytes[at] as number] === SPACE) at++;
  return at;
}

// Each file that reads single bytes declares these constants: the engine inlines local ones, but loads imported ones
// each time.
const CLOSE_BRACE = 0x7d;
const CLOSE_BRACKET = 0x5d;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const QUOTE = 0x22;

const SPACE = 1;
const SCALAR = 2;
/** What a byte may be outside strings: white space, or part of a number or literal. */
const BYTE_KIND = (() => {
  const kinds = new Uint8Array(256);
  for (const char of ' \t\n\r') kinds[char.charCodeAt(0)] = SPACE;
  for (const char of '0123456789+-.eEtruefalsn') kinds[char.charCodeAt(0)] = SCALAR;
  return kinds;
})();
