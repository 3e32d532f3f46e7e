import type { JsonObject, JsonValue, RawJson } from '../contract/json.ts';

/** Nesting deeper than this is refused: V8's own parser recurses, and no MCP message is near it. */
export const MAX_JSON_DEPTH = 256;

/** The text is not JSON, or not the shape that was asked for. `offset` is a byte position. */
export class RawJsonError extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(`${message} at byte ${offset}`);
    this.name = 'RawJsonError';
    this.offset = offset;
  }
}

/**
 * A JSON object known by the byte ranges of its members: keys are decoded, values are not, and a buffer for a value is
 * made only when somebody asks for it.
 *
 * Shape: a key that appears twice counts once, with its last value, as `JSON.parse` does; the first is not written out.
 * Structure (brackets, strings, separators) is checked; the spelling of numbers and literals only by their characters.
 */
export class RawObject {
  readonly #source: RawJson;
  readonly #keys: readonly string[];
  /** Two positions in the source for each key. */
  readonly #ranges: readonly number[];
  /** Values that do not lie in the source, or were asked for before. */
  readonly #values: (RawJson | undefined)[];
  #bytes: RawJson | undefined;
  #objects: Map<string, RawObject> | undefined;

  private constructor(
    source: RawJson,
    keys: readonly string[],
    ranges: readonly number[],
    values: (RawJson | undefined)[],
    bytes: RawJson | undefined,
    objects: Map<string, RawObject> | undefined,
  ) {
    this.#source = source;
    this.#keys = keys;
    this.#ranges = ranges;
    this.#values = values;
    this.#bytes = bytes;
    this.#objects = objects;
  }

  /**
   * Reads one JSON object. Members named in `open` that are objects are read in the same pass, at any depth, so that a
   * later `object(key)` costs nothing.
   * @throws RawJsonError when `bytes` is not one JSON object
   */
  static parse(bytes: RawJson, open: ReadonlySet<string> = NOTHING): RawObject {
    const start = skipSpace(bytes, 0);
    const reading = readMembers(bytes, start, open, 0);
    expectEnd(bytes, reading.end);
    return RawObject.#from(bytes, reading, bytes);
  }

  static #from(source: RawJson, reading: Reading, whole: RawJson | undefined): RawObject {
    const { keys, ranges, nested } = reading;
    let objects: Map<string, RawObject> | undefined;
    if (nested !== undefined) {
      objects = new Map();
      for (const [key, inner] of nested) objects.set(key, RawObject.#from(source, inner, undefined));
    }
    const bytes = reading.isDuplicated ? undefined : (whole ?? source.subarray(reading.start, reading.end));
    return new RawObject(source, keys, ranges, [], bytes, objects);
  }

  /** An object without members. */
  static empty(): RawObject {
    return RawObject.#empty;
  }

  static readonly #empty = new RawObject(Buffer.alloc(0), [], [], [], Buffer.from('{}'), undefined);

  get(key: string): RawJson | undefined {
    const at = this.#keys.indexOf(key);
    return at === -1 ? undefined : this.#valueAt(at);
  }

  has(key: string): boolean {
    return this.#keys.includes(key);
  }

  keys(): IterableIterator<string> {
    return this.#keys.values();
  }

  get size(): number {
    return this.#keys.length;
  }

  /** The member decoded, `undefined` when absent. */
  value(key: string): JsonValue | undefined {
    const raw = this.get(key);
    return raw === undefined ? undefined : decode(raw);
  }

  /** The member when it is a string, else `undefined`. */
  string(key: string): string | undefined {
    const raw = this.get(key);
    if (raw === undefined || raw[0] !== QUOTE) return undefined;
    const text = raw.toString('utf8', 1, raw.length - 1);
    return text.includes('\\') ? (decode(raw) as string) : text;
  }

  /** The member as a raw object, read once; `undefined` when absent or not an object. */
  object(key: string): RawObject | undefined {
    const known = this.#objects?.get(key);
    if (known !== undefined) return known;
    const raw = this.get(key);
    if (raw === undefined || raw[0] !== OPEN_BRACE) return undefined;
    const object = RawObject.parse(raw);
    this.#objects ??= new Map();
    this.#objects.set(key, object);
    return object;
  }

  /** A copy with one member set; an existing member keeps its place. */
  with(key: string, value: RawJson): RawObject {
    const at = this.#keys.indexOf(key);
    const values = [...this.#values];
    if (at !== -1) {
      values[at] = value;
      return new RawObject(this.#source, this.#keys, this.#ranges, values, undefined, undefined);
    }
    values[this.#keys.length] = value;
    return new RawObject(this.#source, [...this.#keys, key], [...this.#ranges, 0, 0], values, undefined, undefined);
  }

  /** A copy without the members named; the same object when it has none of them. */
  without(...keys: readonly string[]): RawObject {
    if (!keys.some((key) => this.#keys.includes(key))) return this;
    const kept: string[] = [];
    const ranges: number[] = [];
    const values: (RawJson | undefined)[] = [];
    for (let at = 0; at < this.#keys.length; at++) {
      const key = this.#keys[at] as string;
      if (keys.includes(key)) continue;
      if (this.#values[at] !== undefined) values[kept.length] = this.#values[at];
      kept.push(key);
      ranges.push(this.#ranges[at * 2] as number, this.#ranges[at * 2 + 1] as number);
    }
    return new RawObject(this.#source, kept, ranges, values, undefined, undefined);
  }

  /** The object as JSON. Unchanged objects give their own bytes back. */
  toBytes(): RawJson {
    if (this.#bytes !== undefined) return this.#bytes;
    const parts: Buffer[] = [];
    let separator = '{';
    for (let at = 0; at < this.#keys.length; at++) {
      parts.push(Buffer.from(`${separator}${JSON.stringify(this.#keys[at])}:`), this.#valueAt(at));
      separator = ',';
    }
    if (parts.length === 0) return EMPTY_BYTES;
    parts.push(BRACE_CLOSE);
    this.#bytes = Buffer.concat(parts);
    return this.#bytes;
  }

  #valueAt(at: number): RawJson {
    let value = this.#values[at];
    if (value === undefined) {
      value = this.#source.subarray(this.#ranges[at * 2], this.#ranges[at * 2 + 1]);
      this.#values[at] = value;
    }
    return value;
  }
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

/** The elements of a raw JSON array, undecoded. @throws RawJsonError when `bytes` is not one array */
export function rawElements(bytes: RawJson): RawJson[] {
  const elements: RawJson[] = [];
  let at = skipSpace(bytes, 0);
  if (bytes[at] !== OPEN_BRACKET) throw new RawJsonError('expected an array', at);
  at = skipSpace(bytes, at + 1);
  if (bytes[at] !== CLOSE_BRACKET) {
    for (;;) {
      const end = skipValue(bytes, at);
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

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const BRACE_CLOSE = Buffer.from('}');
const EMPTY_BYTES = Buffer.from('{}');

const SPACE = 1;
const SCALAR = 2;
/** What a byte may be outside strings: white space, or part of a number or literal. */
const BYTE_KIND = (() => {
  const kinds = new Uint8Array(256);
  for (const char of ' \t\n\r') kinds[char.charCodeAt(0)] = SPACE;
  for (const char of '0123456789+-.eEtruefalsn') kinds[char.charCodeAt(0)] = SCALAR;
  return kinds;
})();

/** What one pass over an object found: `ranges` has two positions for each key. */
interface Reading {
  readonly start: number;
  readonly end: number;
  readonly keys: string[];
  readonly ranges: number[];
  readonly nested: Map<string, Reading> | undefined;
  readonly isDuplicated: boolean;
}

function readMembers(bytes: RawJson, start: number, open: ReadonlySet<string>, depth: number): Reading {
  if (bytes[start] !== OPEN_BRACE) throw new RawJsonError('expected an object', start);
  if (depth >= MAX_JSON_DEPTH) throw new RawJsonError('nested too deeply', start);
  const keys: string[] = [];
  const ranges: number[] = [];
  const seen = new KeyIndex(keys);
  let nested: Map<string, Reading> | undefined;
  let isDuplicated = false;
  let at = skipSpace(bytes, start + 1);
  if (bytes[at] === CLOSE_BRACE) return { start, end: at + 1, keys, ranges, nested, isDuplicated };
  for (;;) {
    if (bytes[at] !== QUOTE) throw new RawJsonError('expected a member name', at);
    const keyEnd = skipString(bytes, at);
    const key = readKey(bytes, at, keyEnd);
    at = skipSpace(bytes, keyEnd);
    if (bytes[at] !== COLON) throw new RawJsonError('expected :', at);
    at = skipSpace(bytes, at + 1);
    let end: number;
    if (bytes[at] === OPEN_BRACE && open.has(key)) {
      const inner = readMembers(bytes, at, open, depth + 1);
      end = inner.end;
      nested ??= new Map();
      nested.set(key, inner);
    } else {
      end = skipValue(bytes, at);
      nested?.delete(key);
    }
    const before = seen.of(key);
    if (before === -1) {
      keys.push(key);
      ranges.push(at, end);
    } else {
      isDuplicated = true;
      ranges[before * 2] = at;
      ranges[before * 2 + 1] = end;
    }
    at = skipSpace(bytes, end);
    if (bytes[at] === CLOSE_BRACE) return { start, end: at + 1, keys, ranges, nested, isDuplicated };
    if (bytes[at] !== COMMA) throw new RawJsonError('expected , or }', at);
    at = skipSpace(bytes, at + 1);
  }
}

/** Finds a key among those read so far: by looking through a few, by a map among many. */
class KeyIndex {
  readonly #keys: readonly string[];
  #places: Map<string, number> | undefined;
  #known = 0;

  constructor(keys: readonly string[]) {
    this.#keys = keys;
  }

  of(key: string): number {
    if (this.#keys.length <= FEW_KEYS) return this.#keys.indexOf(key);
    this.#places ??= new Map();
    for (; this.#known < this.#keys.length; this.#known++)
      this.#places.set(this.#keys[this.#known] as string, this.#known);
    return this.#places.get(key) ?? -1;
  }
}

const FEW_KEYS = 16; // hostile objects have many: looking through them would be quadratic

const NOTHING: ReadonlySet<string> = new Set();

function readKey(bytes: RawJson, start: number, end: number): string {
  for (let at = start + 1; at < end - 1; at++) {
    const byte = bytes[at] as number;
    if (byte === BACKSLASH) return JSON.parse(bytes.toString('utf8', start, end)) as string;
    if (byte > 0x7f) return readWideKey(bytes, start, end);
  }
  return bytes.toString('latin1', start + 1, end - 1);
}

function readWideKey(bytes: RawJson, start: number, end: number): string {
  const text = bytes.toString('utf8', start + 1, end - 1);
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;
}

function expectEnd(bytes: RawJson, from: number): void {
  const at = skipSpace(bytes, from);
  if (at < bytes.length) throw new RawJsonError('unexpected text after the value', at);
}

function skipSpace(bytes: RawJson, from: number): number {
  let at = from;
  while (at < bytes.length && BYTE_KIND[bytes[at] as number] === SPACE) at++;
  return at;
}

/** The position after the string that starts at `start`. */
function skipString(bytes: RawJson, start: number): number {
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

/** As skipString, by native search: base64 blobs of megabytes cost a memchr. */
function skipLongString(bytes: RawJson, start: number, from: number): number {
  let at = from;
  for (;;) {
    const quote = bytes.indexOf(QUOTE, at);
    if (quote === -1) throw new RawJsonError('unterminated string', start);
    let slashes = 0;
    while (quote - 1 - slashes >= from && bytes[quote - 1 - slashes] === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return quote + 1;
    at = quote + 1;
  }
}

/** The position after the value that starts at `start`, its structure checked. */
function skipValue(bytes: RawJson, start: number): number {
  const first = bytes[start];
  if (first === QUOTE) return skipString(bytes, start);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return skipNested(bytes, start);
  let at = start;
  while (at < bytes.length && BYTE_KIND[bytes[at] as number] === SCALAR) at++;
  if (at === start) throw new RawJsonError('expected a value', start);
  return at;
}

/** Closing byte expected at each open level; one buffer for all, used synchronously. */
const closers = new Uint8Array(MAX_JSON_DEPTH + 1);

function skipNested(bytes: RawJson, start: number): number {
  let depth = 0;
  let at = start;
  const length = bytes.length;
  while (at < length) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) {
      at = skipString(bytes, at);
      continue;
    }
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (++depth > MAX_JSON_DEPTH) throw new RawJsonError('nested too deeply', at);
      closers[depth] = byte + 2; // '}' and ']' follow their openers by two in ASCII
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      if (closers[depth] !== byte) throw new RawJsonError('unexpected bracket', at);
      if (--depth === 0) return at + 1;
    } else if (BYTE_KIND[byte] === 0 && byte !== COMMA && byte !== COLON) {
      throw new RawJsonError('unexpected character', at);
    }
    at++;
  }
  throw new RawJsonError('unterminated value', start);
}
