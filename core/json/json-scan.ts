import type { RawJson } from '../contract/json.ts';
import { RawJsonError, TooManyContainers, TooManyMembers, TooManyValues } from './json-errors.ts';
import { readString, skipString } from './json-string.ts';

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

/** The members of one object: their names, and the positions of their values in its source. */
export class RawMembers {
  readonly keys: string[];
  /** Two positions in the source for each key: the start of its value, and the position after its end. */
  readonly ranges: number[];
  /** Members that were parsed as objects in the same pass, by index. */
  objects: (RawMembers | undefined)[] | undefined;
  /** Position of the object in the source; `end` is 0 when it has to be assembled. */
  start = 0;
  end = 0;
  /** Number of members at any depth, duplicates included; 0 for an object that was not parsed. */
  deepSize = 0;
  /** Index of many keys; created on the first search. */
  #index: KeyIndex | undefined;

  constructor(keys: string[] = [], ranges: number[] = []) {
    this.keys = keys;
    this.ranges = ranges;
  }

  /** The index of a key, -1 for none. */
  placeOf(key: string): number {
    if (this.keys.length <= FEW_KEYS) return this.keys.indexOf(key);
    this.#index ??= new KeyIndex(this.keys);
    return this.#index.of(key);
  }
}

/** With more keys an index is used: a hostile object has many, and a scan for each would be quadratic. */
export const FEW_KEYS = 16;

/**
 * Reads the members of the object that starts at `start`; returns the position after it. Members named in `open` that
 * are objects are read in the same pass, at any depth.
 * @throws RawJsonError; TooManyMembers and TooManyValues over the limits of the scan
 */
export function readMembers(
  into: RawMembers,
  scan: JsonScan,
  start: number,
  open: ReadonlySet<string>,
  depth = 0,
): number {
  const { bytes, maxMembers, maxValues } = scan;
  if (bytes[start] !== OPEN_BRACE) throw new RawJsonError('expected an object', start);
  if (depth >= MAX_JSON_DEPTH) throw new RawJsonError('nested too deeply', start);
  const { keys, ranges } = into;
  const before = scan.members;
  let count = 0;
  let isDuplicated = false;
  let at = skipSpace(bytes, start + 1);
  while (bytes[at] !== CLOSE_BRACE) {
    if (bytes[at] !== QUOTE) throw new RawJsonError('expected a member name', at);
    const keyEnd = skipString(bytes, at);
    const key = readString(bytes, at, keyEnd);
    at = skipSpace(bytes, keyEnd);
    if (bytes[at] !== COLON) throw new RawJsonError('expected :', at);
    at = skipSpace(bytes, at + 1);
    scan.members++;
    if (++count > maxMembers) throw new TooManyMembers(maxMembers, at);
    if (++scan.values > maxValues) throw new TooManyValues(maxValues, at);
    const known = into.placeOf(key);
    const place = known === -1 ? keys.length : known;
    if (known === -1) keys.push(key);
    else isDuplicated = true;
    const end = readValue(into, place, scan, at, open, depth);
    ranges[place * 2] = at;
    ranges[place * 2 + 1] = end;
    at = skipSpace(bytes, end);
    if (bytes[at] === CLOSE_BRACE) break;
    if (bytes[at] !== COMMA) throw new RawJsonError('expected , or }', at);
    at = skipSpace(bytes, at + 1);
    if (bytes[at] === CLOSE_BRACE) throw new RawJsonError('expected a member name', at);
  }
  into.deepSize = scan.members - before;
  if (!isDuplicated) {
    into.start = start;
    into.end = at + 1;
  }
  return at + 1;
}

/** The position after the value at index `place`; reads its members when it is an object named in `open`. */
function readValue(
  into: RawMembers,
  place: number,
  scan: JsonScan,
  at: number,
  open: ReadonlySet<string>,
  depth: number,
): number {
  if (scan.bytes[at] === OPEN_BRACE && open.has(into.keys[place] as string)) {
    const inner = new RawMembers();
    into.objects ??= [];
    into.objects[place] = inner;
    return readMembers(inner, scan, at, open, depth + 1);
  }
  if (into.objects !== undefined) into.objects[place] = undefined; // of an earlier member with this name
  return skipValue(scan, at);
}

/** Finds a key among many that were read so far. */
class KeyIndex {
  readonly #keys: readonly string[];
  readonly #places = new Map<string, number>();
  #known = 0;

  constructor(keys: readonly string[]) {
    this.#keys = keys;
  }

  of(key: string): number {
    for (; this.#known < this.#keys.length; this.#known++)
      this.#places.set(this.#keys[this.#known] as string, this.#known);
    return this.#places.get(key) ?? -1;
  }
}
