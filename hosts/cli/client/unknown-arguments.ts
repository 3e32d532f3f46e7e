import { isObject, type JsonObject, type JsonValue, nearest } from '@toolmgr/core';

/** Keywords that may allow arguments which `properties` does not name. */
const MORE = ['$ref', 'allOf', 'anyOf', 'oneOf', 'patternProperties', 'if'] as const;

/**
 * A sentence for each argument that the schema of a tool does not name: a tool may ignore a misspelt one without a word. Pure.
 */
export function unknownArguments(tool: string, args: JsonObject, schema: JsonValue | undefined): readonly string[] {
  if (!isObject(schema) || !isObject(schema.properties)) return [];
  const { properties, additionalProperties = false } = schema;
  if (additionalProperties !== false || MORE.some((keyword) => keyword in schema)) return [];
  const names = Object.keys(properties);
  const rest = names.length === 0 ? '' : ` (it has ${names.join(', ')})`;
  return Object.keys(args)
    .filter((name) => !Object.hasOwn(properties, name))
    .map((name) => {
      const near = nearest(name, names);
      return `${tool} has no argument ${name}${near === undefined ? rest : `, did you mean ${near}?`}`;
    });
}
