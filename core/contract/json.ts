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

/** A JSON object by its members: keys decoded, values not. Immutable. */
export interface RawMembers {
  get(key: string): RawJson | undefined;
  has(key: string): boolean;
  keys(): readonly string[];
  /** The member when it is a string, else `undefined`. */
  string(key: string): string | undefined;
  /** A copy with one member set; an existing member keeps its place. */
  with(key: string, value: RawJson): RawMembers;
  /** A copy without the members named. */
  without(...keys: readonly string[]): RawMembers;
  toBytes(): RawJson;
}
