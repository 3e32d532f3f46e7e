import { RawJsonError, TooManyMembers, TooManyValues } from './json-errors.ts';
import { type JsonScan, MAX_JSON_DEPTH, skipSpace, skipValue } from './json-scan.ts';
import { readString, skipString } from './json-string.ts';

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

const CLOSE_BRACE = 0x7d;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const QUOTE = 0x22;
