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
 * A JSON object known by the byte ranges of its members: keys are decoded, values are not.
 *
 * Shape: a key that appears twice counts once, with its last value, as `JSON.parse` does; the first is not written out.
 * Structure (brackets, strings, separators) is checked; the spelling of numbers and literals only by their characters.
 */
export class RawObject {
  readonly #members: Map<string, RawJson>;
  #bytes: RawJson | undefined;
  #objects: Map<string, RawObject> | undefined;

  private constructor(members: Map<string, RawJson>, bytes: RawJson | undefined) {
    this.#members = members;
    this.#bytes = bytes;
  }

  /** @throws RawJsonError when `bytes` is not one JSON object */
  static parse(bytes: RawJson): RawObject {
    const members = new Map<string, RawJson>();
    const duplicated = readMembers(bytes, members);
    return new RawObject(members, duplicated ? undefined : bytes);
  }

  /** An object without members. */
  static empty(): RawObject {
    return new RawObject(new Map(), EMPTY_OBJECT);
  }

  get(key: string): RawJson | undefined {
    return this.#members.get(key);
  }

  has(key: string): boolean {
    return this.#members.has(key);
  }

  keys(): IterableIterator<string> {
    return this.#members.keys();
  }

  get size(): number {
    return this.#members.size;
  }

  /** The member decoded, `undefined` when absent. */
  value(key: string): JsonValue | undefined {
    const raw = this.#members.get(key);
    return raw === undefined ? undefined : decode(raw);
  }

  /** The member when it is a string, else `undefined`. */
  string(key: string): string | undefined {
    const raw = this.#members.get(key);
    if (raw === undefined || raw[0] !== QUOTE) return undefined;
    return decode(raw) as string;
  }

  /** The member as a raw object, read once; `undefined` when absent or not an object. */
  object(key: string): RawObject | undefined {
    const raw = this.#members.get(key);
    if (raw === undefined || raw[0] !== OPEN_BRACE) return undefined;
    let object = this.#objects?.get(key);
    if (object === undefined) {
      object = RawObject.parse(raw);
      this.#objects ??= new Map();
      this.#objects.set(key, object);
    }
    return object;
  }

  /** A copy with one member set; an existing member keeps its place. */
  with(key: string, value: RawJson): RawObject {
    const members = new Map(this.#members);
    members.set(key, value);
    return new RawObject(members, undefined);
  }

  /** A copy without the members named; the same object when it has none of them. */
  without(...keys: readonly string[]): RawObject {
    if (!keys.some((key) => this.#members.has(key))) return this;
    const members = new Map(this.#members);
    for (const key of keys) members.delete(key);
    return new RawObject(members, undefined);
  }

  /** The object as JSON. Unchanged objects give their own bytes back. */
  toBytes(): RawJson {
    if (this.#bytes !== undefined) return this.#bytes;
    const parts: Buffer[] = [];
    let separator = BRACE_OPEN;
    for (const [key, value] of this.#members) {
      parts.push(separator, Buffer.from(`${JSON.stringify(key)}:`), value);
      separator = COMMA_BYTES;
    }
    if (parts.length === 0) return EMPTY_OBJECT;
    parts.push(BRACE_CLOSE);
    this.#bytes = Buffer.concat(parts);
    return this.#bytes;
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
const BRACE_OPEN = Buffer.from('{');
const BRACE_CLOSE = Buffer.from('}');
const COMMA_BYTES = Buffer.from(',');
const EMPTY_OBJECT = Buffer.from('{}');

const SPACE = 1;
const SCALAR = 2;
/** What a byte may be outside strings: white space, or part of a number or literal. */
const BYTE_KIND = (() => {
  const kinds = new Uint8Array(256);
  for (const char of ' \t\n\r') kinds[char.charCodeAt(0)] = SPACE;
  for (const char of '0123456789+-.eEtruefalsn') kinds[char.charCodeAt(0)] = SCALAR;
  return kinds;
})();

/** Fills `members`; says whether a key came twice. */
function readMembers(bytes: RawJson, members: Map<string, RawJson>): boolean {
  let duplicated = false;
  let at = skipSpace(bytes, 0);
  if (bytes[at] !== OPEN_BRACE) throw new RawJsonError('expected an object', at);
  at = skipSpace(bytes, at + 1);
  if (bytes[at] !== CLOSE_BRACE) {
    for (;;) {
      if (bytes[at] !== QUOTE) throw new RawJsonError('expected a member name', at);
      const keyEnd = skipString(bytes, at);
      const key = readKey(bytes, at, keyEnd);
      at = skipSpace(bytes, keyEnd);
      if (bytes[at] !== COLON) throw new RawJsonError('expected :', at);
      at = skipSpace(bytes, at + 1);
      const end = skipValue(bytes, at);
      if (members.has(key)) duplicated = true;
      members.set(key, bytes.subarray(at, end));
      at = skipSpace(bytes, end);
      if (bytes[at] === CLOSE_BRACE) break;
      if (bytes[at] !== COMMA) throw new RawJsonError('expected , or }', at);
      at = skipSpace(bytes, at + 1);
    }
  }
  expectEnd(bytes, at + 1);
  return duplicated;
}

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
