import type { JsonValue, RawJson } from '../contract/json.ts';
import { joinParts, type Part } from './byte-pieces.ts';
import { expectEnd, FEW_KEYS, JsonScan, RawMembers, readMembers, skipSpace } from './json-scan.ts';
import { readString } from './json-string.ts';
import { decode } from './json-value.ts';

/**
 * A JSON object stored as the byte ranges of its members: keys are decoded, values are not, and the buffer of a value
 * is created on first read.
 *
 * Shape: of a duplicate key the last value is used, as in `JSON.parse`; the first is not written. The structure
 * (brackets, strings, separators) is checked; of numbers and literals only the characters.
 */
export class RawObject {
  readonly #source: RawJson;
  readonly #members: RawMembers;
  /** Values that are not in the source, or were read before. */
  #values: (RawJson | undefined)[] | undefined;
  /** Members that were read as objects. */
  #objects: (RawObject | undefined)[] | undefined;
  #bytes: RawJson | undefined;

  private constructor(source: RawJson, members: RawMembers, values?: (RawJson | undefined)[]) {
    this.#source = source;
    this.#members = members;
    this.#values = values;
  }

  /**
   * Parses one JSON object. Members named in `open` that are objects are parsed in the same pass, at any depth, so that
   * a later `object(key)` parses nothing again. Untrusted input is parsed with limits: on the members of each object,
   * on the objects and arrays in values, and on all values.
   * @throws RawJsonError when `bytes` is not one JSON object; TooManyMembers, TooManyContainers and TooManyValues over the
   *   limits
   */
  static parse(
    bytes: RawJson,
    open: ReadonlySet<string> = NOTHING,
    maxMembers?: number,
    maxContainers?: number,
    maxValues?: number,
  ): RawObject {
    const members = new RawMembers();
    const scan = new JsonScan(bytes, maxMembers, maxContainers, maxValues);
    expectEnd(bytes, readMembers(members, scan, skipSpace(bytes, 0), open));
    const object = new RawObject(bytes, members);
    if (members.end !== 0) object.#bytes = bytes;
    return object;
  }

  /** An object of these members with different names. Linear, unlike repeated calls of `with`. */
  static of(members: Iterable<readonly [string, RawJson]>): RawObject {
    const keys: string[] = [];
    const values: RawJson[] = [];
    for (const [key, value] of members) {
      keys.push(key);
      values.push(value);
    }
    return new RawObject(EMPTY_BYTES, new RawMembers(keys, new Array<number>(keys.length * 2).fill(0)), values);
  }

  /** An object without members. */
  static empty(): RawObject {
    return EMPTY;
  }

  get(key: string): RawJson | undefined {
    const at = this.#members.placeOf(key);
    return at === -1 ? undefined : this.#valueAt(at);
  }

  has(key: string): boolean {
    return this.#members.placeOf(key) !== -1;
  }

  keys(): readonly string[] {
    return this.#members.keys;
  }

  get size(): number {
    return this.#members.keys.length;
  }

  /** Number of members at any depth, duplicates included, of the object as it was parsed. */
  get deepSize(): number {
    return this.#members.deepSize;
  }

  /** The decoded member, `undefined` when absent. */
  value(key: string): JsonValue | undefined {
    const raw = this.get(key);
    return raw === undefined ? undefined : decode(raw);
  }

  /** The member if it is a string, else `undefined`. */
  string(key: string): string | undefined {
    const at = this.#members.placeOf(key);
    if (at === -1) return undefined;
    if (this.#values?.[at] === undefined) {
      const { ranges } = this.#members;
      const [start, end] = [ranges[at * 2] as number, ranges[at * 2 + 1] as number];
      if (this.#source[start] !== QUOTE) return undefined;
      if (end - start <= SHORT_STRING) return readString(this.#source, start, end);
    }
    const raw = this.#valueAt(at);
    if (raw[0] !== QUOTE) return undefined;
    const text = raw.toString('utf8', 1, raw.length - 1);
    return text.includes('\\') ? (decode(raw) as string) : text;
  }

  /** The member as a raw object, parsed once; `undefined` when absent or not an object. */
  object(key: string): RawObject | undefined {
    const at = this.#members.placeOf(key);
    if (at === -1) return undefined;
    const known = this.#objects?.[at];
    if (known !== undefined) return known;
    const object = this.#objectAt(at);
    if (object === undefined) return undefined;
    this.#objects ??= [];
    this.#objects[at] = object;
    return object;
  }

  #objectAt(at: number): RawObject | undefined {
    const read = this.#members.objects?.[at];
    if (read !== undefined) return new RawObject(this.#source, read);
    const raw = this.#valueAt(at);
    return raw[0] === OPEN_BRACE ? RawObject.parse(raw) : undefined;
  }

  /** A copy with one member set; an existing member keeps its position. */
  with(key: string, value: RawJson): RawObject {
    const { keys, ranges } = this.#members;
    const at = this.#members.placeOf(key);
    const values = this.#values === undefined ? [] : [...this.#values];
    values[at === -1 ? keys.length : at] = value;
    const members = at === -1 ? new RawMembers([...keys, key], [...ranges, 0, 0]) : new RawMembers(keys, ranges);
    return new RawObject(this.#source, members, values);
  }

  /** A copy without the named members; the same object when it has none of them. Linear for any number of names. */
  without(...keys: readonly string[]): RawObject {
    return this.omit(keys.length > FEW_KEYS ? new Set(keys) : { has: (key) => keys.includes(key) });
  }

  /** Like `without`, for many names. */
  omit(keys: Names): RawObject {
    return this.#filtered((key) => !keys.has(key));
  }

  /** A copy with only the named members; the same object when it has no others. */
  only(keys: Names): RawObject {
    return this.#filtered((key) => keys.has(key));
  }

  #filtered(keeps: (key: string) => boolean): RawObject {
    const { keys, ranges } = this.#members;
    let at = 0;
    while (at < keys.length && keeps(keys[at] as string)) at++;
    if (at === keys.length) return this;
    const kept = keys.slice(0, at);
    const keptRanges = ranges.slice(0, at * 2);
    let values = this.#values?.slice(0, at);
    for (; at < keys.length; at++) {
      const key = keys[at] as string;
      if (!keeps(key)) continue;
      const known = this.#values?.[at];
      if (known !== undefined) {
        values ??= [];
        values[kept.length] = known;
      }
      kept.push(key);
      keptRanges.push(ranges[at * 2] as number, ranges[at * 2 + 1] as number);
    }
    return new RawObject(this.#source, new RawMembers(kept, keptRanges), values);
  }

  /** The object as JSON. An unchanged object returns its own bytes. */
  toBytes(): RawJson {
    const { start, end } = this.#members;
    this.#bytes ??= end === 0 ? this.#joined() : this.#source.subarray(start, end);
    return this.#bytes;
  }

  #joined(): RawJson {
    const { keys } = this.#members;
    if (keys.length === 0) return EMPTY_BYTES;
    const parts: Part[] = [];
    for (let at = 0; at < keys.length; at++) {
      parts.push(`${at === 0 ? '{' : ','}${JSON.stringify(keys[at])}:`, this.#valueAt(at));
    }
    parts.push('}');
    return joinParts(parts);
  }

  #valueAt(at: number): RawJson {
    let value = this.#values?.[at];
    if (value === undefined) {
      const { ranges } = this.#members;
      value = this.#source.subarray(ranges[at * 2], ranges[at * 2 + 1]);
      this.#values ??= [];
      this.#values[at] = value;
    }
    return value;
  }
}

/** A set of names; a Set is one. */
export interface Names {
  has(name: string): boolean;
}

const OPEN_BRACE = 0x7b;
const QUOTE = 0x22;
const SHORT_STRING = 64; // bytes; names are shorter, texts are longer
const NOTHING: ReadonlySet<string> = new Set();
const EMPTY_BYTES = Buffer.from('{}');
const EMPTY = RawObject.parse(EMPTY_BYTES);

/** The members of a raw object without its braces; `undefined` when there are none. */
export function membersWithoutBraces(object: RawJson): Buffer | undefined {
  const open = object.indexOf(0x7b);
  const close = object.lastIndexOf(0x7d);
  const inner = object.subarray(open + 1, close);
  return inner.every(isSpace) ? undefined : inner;
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}
