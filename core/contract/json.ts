/** Any JSON value, decoded. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

/** A decoded JSON object. Absent members read as `undefined`. */
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined;
}

/**
 * One JSON value as UTF-8 bytes, not decoded.
 *
 * What no plugin reads travels in this form, so unknown fields, big integers and key order arrive byte-equal.
 */
export type RawJson = Buffer;
