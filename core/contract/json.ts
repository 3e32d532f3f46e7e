/** Any JSON value, decoded. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

/** A decoded JSON object. Absent members read as `undefined`. */
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined;
}

/**
 * One JSON value as UTF-8 bytes, not decoded.
 *
 * Values that no plugin reads stay in this form, so unknown fields, big integers and key order are forwarded unchanged.
 */
export type RawJson = Buffer;

/** The members of a JSON object: keys decoded, values not. Immutable. */
export interface RawMembers {
  get(key: string): RawJson | undefined;
  has(key: string): boolean;
  keys(): readonly string[];
  /** The member if it is a string, else `undefined`. */
  string(key: string): string | undefined;
  /** A copy with one member set; an existing member keeps its position. */
  with(key: string, value: RawJson): RawMembers;
  /** A copy without the members named. */
  without(...keys: readonly string[]): RawMembers;
  toBytes(): RawJson;
}
