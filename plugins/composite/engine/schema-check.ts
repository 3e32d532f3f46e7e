import { encode, type JsonObject, type JsonValue } from '@toolmgr/core';
import { Ajv2020 } from 'ajv/dist/2020.js';

/** Returns the error of an invalid value; `undefined` for a valid one. */
export type SchemaCheck = (value: JsonValue) => string | undefined;

/** A check, or why the schema is invalid. */
export type CompiledCheck = { readonly check: SchemaCheck } | { readonly problem: string };

/**
 * Compiles a JSON Schema (2020-12) once.
 *
 * Shape: `format` is an annotation; unknown keywords are ignored, because MCP schemas contain them. An error names the path
 * and the rule, never the value: it may be a secret.
 */
export function compileSchema(schema: JsonObject): CompiledCheck {
  const { $schema, ...plain } = schema; // other dialects are read as 2020-12 too
  try {
    const validate = new Ajv2020({ strict: false, validateFormats: false, allErrors: false, logger: false }).compile(
      plain,
    );
    return {
      check: (value) => {
        if (validate(value)) return undefined;
        const [error] = validate.errors ?? [];
        if (error === undefined) return 'does not match the schema';
        const place = error.instancePath.slice(1).replaceAll('/', '.');
        return `${place === '' ? '' : `${place}: `}${error.message ?? 'is invalid'}${named(error.params)}`;
      },
    };
  } catch (cause) {
    return { problem: `is not a valid JSON Schema:  ${cause instanceof Error ? cause.message : String(cause)}` };
  }
}

function named(params: Readonly<Record<string, unknown>>): string {
  const { additionalProperty, allowedValues } = params;
  if (typeof additionalProperty === 'string') return ` ("${additionalProperty.slice(0, 100)}")`;
  return Array.isArray(allowedValues) ? ` (${allowedValues.map(String).join(', ')})` : '';
}

/** The nesting depth of a value; stops counting above `max`. */
export function depthOf(value: JsonValue | undefined, max: number): number {
  if (value === null || typeof value !== 'object' || max < 0) return 0;
  let deepest = 0;
  for (const inner of Object.values(value as Readonly<Record<string, JsonValue>>)) {
    deepest = Math.max(deepest, depthOf(inner, max - 1));
    if (deepest > max) break;
  }
  return deepest + 1;
}

/** Bytes of a value as JSON. */
export function bytesOf(value: JsonValue): number {
  return encode(value).length;
}
