import { isObject, type JsonObject, type JsonValue } from '@toolmgr/core';
import type { Problems } from './problem.ts';
import { compileSchema } from './schema-check.ts';

/** The input schema of a composite tool, and the check of arguments. */
export interface Parameters {
  readonly schema: JsonObject;
  /** Names of the declared parameters; `undefined` when callers may send others. */
  readonly names: readonly string[] | undefined;
  /** Adds top-level defaults, then validates; `problem` is the error text. */
  read(given: JsonObject): { readonly params: JsonObject } | { readonly problem: string };
}

/** Compiles `parameters`. Without it the input schema declares no properties. Source: vmcp spec §2 compositeTools. */
export function compileParameters(given: JsonObject | undefined, problems: Problems): Parameters {
  const schema: JsonObject = given === undefined ? { type: 'object', properties: {} } : { type: 'object', ...given };
  if (schema.type !== 'object') problems.add(['parameters', 'type'], 'expected object');
  const { properties } = schema;
  if (properties !== undefined && !isObject(properties)) {
    problems.add(['parameters', 'properties'], 'expected a map of parameter names to schemas');
  }
  const compiled = compileSchema(schema);
  if ('problem' in compiled) problems.add(['parameters'], compiled.problem);
  const defaults = isObject(properties) ? defaultsOf(properties) : [];
  return {
    schema,
    names: schema.additionalProperties === false && isObject(properties) ? Object.keys(properties) : undefined,
    read(values) {
      const params: Record<string, JsonValue | undefined> = { ...values };
      for (const [name, value] of defaults) if (params[name] === undefined) params[name] = value;
      const problem = 'check' in compiled ? compiled.check(params as JsonObject) : undefined;
      return problem === undefined ? { params } : { problem };
    },
  };
}

function defaultsOf(properties: JsonObject): [string, JsonValue][] {
  return Object.entries(properties).flatMap(([name, property]): [string, JsonValue][] =>
    isObject(property) && property.default !== undefined ? [[name, property.default]] : [],
  );
}
