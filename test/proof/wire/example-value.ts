import { isObject, type JsonObject, type JsonValue } from '@toolmgr/core';

/** Valid arguments for a tool's `inputSchema`, with every property and the schema's examples and defaults. */
export function exampleArguments(inputSchema: JsonObject): JsonObject {
  return exampleValue(inputSchema) as JsonObject;
}

/** A valid value for the common keywords of JSON Schema. */
function exampleValue(schema: JsonValue): JsonValue {
  if (!isObject(schema)) return 'anything';
  const { const: constant, default: preset, enum: choices, anyOf, oneOf } = schema;
  if (constant !== undefined) return constant;
  if (preset !== undefined) return preset;
  if (Array.isArray(choices)) return choices[0] ?? null;
  const branches = anyOf ?? oneOf;
  if (Array.isArray(branches)) return exampleValue(branches[0] ?? {});
  return EXAMPLES[typeOf(schema)](schema);
}

type TypeName = keyof typeof EXAMPLES;

function typeOf({ type }: JsonObject): TypeName {
  const named = Array.isArray(type) ? type[0] : type;
  return typeof named === 'string' && Object.hasOwn(EXAMPLES, named) ? (named as TypeName) : 'string';
}

const EXAMPLES = {
  string: ({ format, minLength }: JsonObject): JsonValue =>
    format === 'uri' ? 'https://example.com/a' : 'a text'.padEnd(Number(minLength ?? 0), 'x'),
  integer: ({ minimum }: JsonObject): JsonValue => Math.max(1, Number(minimum ?? 1)),
  number: ({ minimum }: JsonObject): JsonValue => Math.max(1, Number(minimum ?? 1)),
  boolean: (): JsonValue => false,
  null: (): JsonValue => null,
  array: ({ items }: JsonObject): JsonValue => [exampleValue(items ?? {})],
  object: ({ properties }: JsonObject): JsonValue =>
    Object.fromEntries(
      Object.entries((properties ?? {}) as JsonObject).map(([name, inner = {}]) => [name, exampleValue(inner)]),
    ),
};
