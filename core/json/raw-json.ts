import type { JsonObject, JsonValue, RawJson } from '../contract/json.ts';
import { joinParts, type Part } from './join-parts.ts';
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  expectEnd,
  MAX_JSON_DEPTH,
  OPEN_BRACE,
  OPEN_BRACKET,
  passed,
  QUOTE,
  RawJsonError,
  readString,
  skipSpace,
  skipString,
  skipValue,
  TooManyElements,
  TooManyMembers,
} from './json-scan.ts';

export { boundContainers, MAX_JSON_DEPTH, RawJsonError, TooManyElements, TooManyMembers } from './json-scan.ts';

/**
 * A JSON object known by the byte ranges of its members: keys are decoded, values are not, and a buffer for a value is
 * made only when somebody asks for it.
 *
 * Shape: a key that appears twice counts once, with its last value, as `JSON.parse` does; the first is not written out.
 * Structure (brackets, strings, separators) is checked; the spelling of numbers and literals only by their characters.
 */
export class RawObject {
  readonly #source: RawJson;
  readonly #keys: string[];
  /** Two positions in the source for each key. */
  readonly #ranges: number[];
  /** Values that do not lie in the source, or were asked for before. */
  #values: (RawJson | undefined)[] | undefined;
  /** Members that were read as objects already. */
  #objects: (RawObject | undefined)[] | undefined;
  /** Where the object lies in the source as it is; the end is 0 when it must be put together. */
  #start = 0;
  #end = 0;
  #bytes: RawJson | undefined;
  #deepSize = 0;
  /** Places of many keys; made on the first search. */
  #index: KeyIndex | undefined;

  private constructor(source: RawJson, keys: string[], ranges: number[], values: (RawJson | undefined)[] | undefined) {
    this.#source = source;
    this.#keys = keys;
    this.#ranges = ranges;
    this.#values = values;
  }

  /**
   * Reads one JSON object. Members named in `open` that are objects are read in the same pass, at any depth, so that a
   * later `object(key)` costs nothing. What comes from outside is read with a bound on the members of each object.
   * @throws RawJsonError when `bytes` is not one JSON object; TooManyMembers when an object in it is over the bound
   */
  static parse(
    bytes: RawJson,
    open: ReadonlySet<string> = NOTHING,
    maxMembers: number = Number.POSITIVE_INFINITY,
  ): RawObject {
    const object = new RawObject(bytes, [], [], undefined);
    passed.maxMembers = maxMembers;
    expectEnd(bytes, object.#read(skipSpace(bytes, 0), open, 0));
    if (object.#end !== 0) object.#bytes = bytes;
    return object;
  }

  /** An object of these members, whose names differ. Linear, unlike one `with` after the other. */
  static of(members: Iterable<readonly [string, RawJson]>): RawObject {
    const keys: string[] = [];
    const values: RawJson[] = [];
    for (const [key, value] of members) {
      keys.push(key);
      values.push(value);
    }
    return new RawObject(EMPTY_BYTES, keys, new Array<number>(keys.length * 2).fill(0), values);
  }

  /** An object without members. */
  static empty(): RawObject {
    return EMPTY;
  }

  get(key: string): RawJson | undefined {
    const at = this.#placeOf(key);
    return at === -1 ? undefined : this.#valueAt(at);
  }

  has(key: string): boolean {
    return this.#placeOf(key) !== -1;
  }

  keys(): readonly string[] {
    return this.#keys;
  }

  get size(): number {
    return this.#keys.length;
  }

  /** Members at any depth, equal names counted each; of an object as it was read. */
  get deepSize(): number {
    return this.#deepSize;
  }

  /** The member decoded, `undefined` when absent. */
  value(key: string): JsonValue | undefined {
    const raw = this.get(key);
    return raw === undefined ? undefined : decode(raw);
  }

  /** The member when it is a string, else `undefined`. */
  string(key: string): string | undefined {
    const at = this.#placeOf(key);
    if (at === -1) return undefined;
    if (this.#values?.[at] === undefined) {
      const [start, end] = [this.#ranges[at * 2] as number, this.#ranges[at * 2 + 1] as number];
      if (this.#source[start] !== QUOTE) return undefined;
      if (end - start <= SHORT_STRING) return readString(this.#source, start, end);
    }
    const raw = this.#valueAt(at);
    if (raw[0] !== QUOTE) return undefined;
    const text = raw.toString('utf8', 1, raw.length - 1);
    return text.includes('\\') ? (decode(raw) as string) : text;
  }

  /** The member as a raw object, read once; `undefined` when absent or not an object. */
  object(key: string): RawObject | undefined {
    const at = this.#placeOf(key);
    if (at === -1) return undefined;
    const known = this.#objects?.[at];
    if (known !== undefined) return known;
    const raw = this.#valueAt(at);
    if (raw[0] !== OPEN_BRACE) return undefined;
    const object = RawObject.parse(raw);
    this.#objects ??= [];
    this.#objects[at] = object;
    return object;
  }

  /** A copy with one member set; an existing member keeps its place. */
  with(key: string, value: RawJson): RawObject {
    const at = this.#placeOf(key);
    const values = this.#values === undefined ? [] : [...this.#values];
    values[at === -1 ? this.#keys.length : at] = value;
    if (at !== -1) return new RawObject(this.#source, this.#keys, this.#ranges, values);
    return new RawObject(this.#source, [...this.#keys, key], [...this.#ranges, 0, 0], values);
  }

  /** A copy without the members named; the same object when it has none of them. Linear, however many are named. */
  without(...keys: readonly string[]): RawObject {
    return this.omit(keys.length > FEW_KEYS ? new Set(keys) : { has: (key) => keys.includes(key) });
  }

  /** As `without`, for many names. */
  omit(keys: Names): RawObject {
    return this.#filtered((key) => !keys.has(key));
  }

  /** A copy with the members named and no others; the same object when it has no others. */
  only(keys: Names): RawObject {
    return this.#filtered((key) => keys.has(key));
  }

  #filtered(keeps: (key: string) => boolean): RawObject {
    let at = 0;
    while (at < this.#keys.length && keeps(this.#keys[at] as string)) at++;
    if (at === this.#keys.length) return this;
    const kept = this.#keys.slice(0, at);
    const ranges = this.#ranges.slice(0, at * 2);
    let values = this.#values?.slice(0, at);
    for (; at < this.#keys.length; at++) {
      const key = this.#keys[at] as string;
      if (!keeps(key)) continue;
      const known = this.#values?.[at];
      if (known !== undefined) {
        values ??= [];
        values[kept.length] = known;
      }
      kept.push(key);
      ranges.push(this.#ranges[at * 2] as number, this.#ranges[at * 2 + 1] as number);
    }
    return new RawObject(this.#source, kept, ranges, values);
  }

  /** The object as JSON. Unchanged objects give their own bytes back. */
  toBytes(): RawJson {
    this.#bytes ??= this.#end === 0 ? this.#joined() : this.#source.subarray(this.#start, this.#end);
    return this.#bytes;
  }

  /** Linear would make every loop over many members quadratic. */
  #placeOf(key: string): number {
    if (this.#keys.length <= FEW_KEYS) return this.#keys.indexOf(key);
    this.#index ??= new KeyIndex(this.#keys);
    return this.#index.of(key);
  }

  #joined(): RawJson {
    if (this.#keys.length === 0) return EMPTY_BYTES;
    const parts: Part[] = [];
    for (let at = 0; at < this.#keys.length; at++) {
      parts.push(`${at === 0 ? '{' : ','}${JSON.stringify(this.#keys[at])}:`, this.#valueAt(at));
    }
    parts.push('}');
    return joinParts(parts);
  }

  #valueAt(at: number): RawJson {
    let value = this.#values?.[at];
    if (value === undefined) {
      value = this.#source.subarray(this.#ranges[at * 2], this.#ranges[at * 2 + 1]);
      this.#values ??= [];
      this.#values[at] = value;
    }
    return value;
  }

  /** Finds the members of the object that begins at `start`; returns the position after it. @throws RawJsonError */
  #read(start: number, open: ReadonlySet<string>, depth: number): number {
    const bytes = this.#source;
    if (bytes[start] !== OPEN_BRACE) throw new RawJsonError('expected an object', start);
    if (depth >= MAX_JSON_DEPTH) throw new RawJsonError('nested too deeply', start);
    const before = passed.members;
    const { maxMembers } = passed;
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
      passed.members++;
      if (++count > maxMembers) throw new TooManyMembers(maxMembers, at);
      const known = this.#placeOf(key);
      const place = known === -1 ? this.#keys.length : known;
      if (known === -1) this.#keys.push(key);
      else isDuplicated = true;
      const end = this.#readValue(place, at, open, depth);
      this.#ranges[place * 2] = at;
      this.#ranges[place * 2 + 1] = end;
      at = skipSpace(bytes, end);
      if (bytes[at] === CLOSE_BRACE) break;
      if (bytes[at] !== COMMA) throw new RawJsonError('expected , or }', at);
      at = skipSpace(bytes, at + 1);
      if (bytes[at] === CLOSE_BRACE) throw new RawJsonError('expected a member name', at);
    }
    this.#deepSize = passed.members - before;
    if (!isDuplicated) {
      this.#start = start;
      this.#end = at + 1;
    }
    return at + 1;
  }

  /** The position after the value of the member at `place`, which is read through when it is an object to open. */
  #readValue(place: number, at: number, open: ReadonlySet<string>, depth: number): number {
    if (this.#source[at] === OPEN_BRACE && open.has(this.#keys[place] as string)) {
      const inner = new RawObject(this.#source, [], [], undefined);
      this.#objects ??= [];
      this.#objects[place] = inner;
      return inner.#read(at, open, depth + 1);
    }
    if (this.#objects !== undefined) this.#objects[place] = undefined; // an earlier one of this name
    return skipValue(this.#source, at);
  }
}

/** What tells whether a name is one of many; a Set is. */
export interface Names {
  has(name: string): boolean;
}

/** Decodes raw JSON. @throws SyntaxError when it is not JSON */
export function decode(raw: RawJson): JsonValue {
  return JSON.parse(raw.toString('utf8')) as JsonValue;
}

/** Decodes raw JSON to an object; anything else gives `undefined`. @throws SyntaxError when it is not JSON */
export function decodeObject(raw: RawJson): JsonObject | undefined {
  const value = decode(raw);
  return isObject(value) ? value : undefined;
}

/** Encodes a value. Members that are `undefined` are left out. */
export function encode(value: JsonValue | JsonObject): RawJson {
  return Buffer.from(JSON.stringify(value));
}

/** Whether a decoded value is an object (not null, not an array). */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Checks the structure and depth of a JSON value of any kind. @throws RawJsonError; TooManyMembers over the bound */
export function checkStructure(bytes: RawJson, maxMembers: number): void {
  passed.maxMembers = maxMembers;
  expectEnd(bytes, skipValue(bytes, skipSpace(bytes, 0)));
}

/**
 * The elements of a raw JSON array, undecoded: each costs some hundred bytes, however few it has, so that what comes from
 * outside is read with a bound. @throws RawJsonError when `bytes` is not one array; TooManyElements over the bound
 */
export function rawElements(bytes: RawJson, maxElements: number): RawJson[] {
  const elements: RawJson[] = [];
  passed.maxMembers = Number.POSITIVE_INFINITY;
  let at = skipSpace(bytes, 0);
  if (bytes[at] !== OPEN_BRACKET) throw new RawJsonError('expected an array', at);
  at = skipSpace(bytes, at + 1);
  if (bytes[at] !== CLOSE_BRACKET) {
    for (;;) {
      const end = skipValue(bytes, at);
      if (elements.length >= maxElements) throw new TooManyElements(maxElements, at);
      elements.push(bytes.subarray(at, end));
      at = skipSpace(bytes, end);
      if (bytes[at] === CLOSE_BRACKET) break;
      if (bytes[at] !== COMMA) throw new RawJsonError('expected , or ]', at);
      at = skipSpace(bytes, at + 1);
    }
  }
  expectEnd(bytes, at + 1);
  return elements;
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

const FEW_KEYS = 16; // hostile objects have many: looking through them would be quadratic

const SHORT_STRING = 64; // bytes; names are shorter, texts are longer
const NOTHING: ReadonlySet<string> = new Set();
const EMPTY_BYTES = Buffer.from('{}');
const EMPTY = RawObject.parse(EMPTY_BYTES);
