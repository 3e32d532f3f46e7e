import { isObject, type JsonObject, type JsonValue } from '@toolmgr/core';
import { MAX_ARGUMENT_DEPTH } from './limits.ts';

/** Types that a text can be converted to. */
export type JsonTypeName = 'string' | 'integer' | 'number' | 'boolean' | 'object' | 'array';

/** Converts a text to a type, ignoring surrounding blanks; `undefined` when it does not have that type. */
export function valueFromText(text: string, type: JsonTypeName): JsonValue | undefined {
  return READERS[type](text);
}

const READERS: Readonly<Record<JsonTypeName, (text: string) => JsonValue | undefined>> = {
  string: (text) => text,
  integer(text) {
    const number = numberFrom(text);
    return number !== undefined && Number.isSafeInteger(number) ? number : undefined;
  },
  number: numberFrom,
  boolean: (text) => BOOLEANS.get(text.trim()),
  object(text) {
    const value = jsonFrom(text);
    return isObject(value) ? value : undefined;
  },
  array(text) {
    const value = jsonFrom(text);
    return Array.isArray(value) ? value : undefined;
  },
};

const BOOLEANS: ReadonlyMap<string, boolean> = new Map(
  ['true', 'True', 'TRUE']
    .map((word): [string, boolean] => [word, true])
    .concat(['false', 'False', 'FALSE'].map((word): [string, boolean] => [word, false])),
);

function numberFrom(text: string): number | undefined {
  const trimmed = text.trim();
  if (!/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(trimmed)) return undefined;
  const number = Number(trimmed);
  return Number.isFinite(number) ? number : undefined;
}

/** Parses JSON; `undefined` when the text is not JSON. */
function jsonFrom(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/**
 * Converts the strings of a value to the types that a JSON Schema expects; a string that does not convert stays a string.
 *
 * Shape: follows `properties`, `items` and `type`, also a list of types (a string stays a string when `string` is one of them).
 */
export function coerceToSchema(value: JsonValue, schema: JsonValue | undefined, depth = 0): JsonValue {
  if (!isObject(schema) || depth > MAX_SCHEMA_DEPTH) return value;
  if (typeof value === 'string') {
    const coerced = coerceText(value, typesOf(schema));
    return typeof coerced === 'string' ? coerced : coerceToSchema(coerced, schema, depth + 1);
  }
  if (Array.isArray(value)) {
    const { items } = schema;
    return isObject(items)
      ? (value as readonly JsonValue[]).map((item) => coerceToSchema(item, items, depth + 1))
      : value;
  }
  if (!isObject(value)) return value;
  const { properties, additionalProperties } = schema;
  return Object.fromEntries(
    Object.entries(value).map(([key, member = null]) => {
      const known = isObject(properties) && Object.hasOwn(properties, key) ? properties[key] : additionalProperties;
      return [key, coerceToSchema(member, known, depth + 1)];
    }),
  ) as JsonObject;
}

const MAX_SCHEMA_DEPTH = MAX_ARGUMENT_DEPTH;

function typesOf({ type }: JsonObject): readonly JsonValue[] {
  return Array.isArray(type) ? (type as readonly JsonValue[]) : type === undefined ? [] : [type];
}

function coerceText(text: string, types: readonly JsonValue[]): JsonValue {
  if (types.includes('string')) return text;
  for (const type of ORDER) {
    if (!types.includes(type)) continue;
    const value = valueFromText(text, type);
    if (value !== undefined) return value;
  }
  return types.includes('null') && text.trim() === 'null' ? null : text;
}

const ORDER = ['integer', 'number', 'boolean', 'object', 'array'] as const;
