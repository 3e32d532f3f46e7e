import type { JsonObject, JsonValue, RawJson } from '../contract/json.ts';

/** Decodes raw JSON. @throws SyntaxError when it is not JSON */
export function decode(raw: RawJson): JsonValue {
  return JSON.parse(raw.toString('utf8')) as JsonValue;
}

/** Decodes raw JSON to an object; anything else gives `undefined`. @throws SyntaxError when it is not JSON */
export function decodeObject(raw: RawJson): JsonObject | undefined {
  const value = decode(raw);
  return isObject(value) ? value : undefined;
}

/** The value of a JSON text; `undefined` when it is none. */
export function parsedJson(text: string | Buffer): JsonValue | undefined {
  try {
    return JSON.parse(text.toString()) as JsonValue;
  } catch {
    return undefined;
  }
}

/** Encodes a value. Members that are `undefined` are left out. */
export function encode(value: JsonValue | JsonObject): RawJson {
  return Buffer.from(JSON.stringify(value));
}

/** Whether a decoded value is an object (not null, not an array). */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
