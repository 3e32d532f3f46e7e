import { encode, type JsonObject, type JsonValue } from '@toolmgr/core';
import { Ajv2020 } from 'ajv/dist/2020.js';

/** Says in one sentence why a value does not fit, or `undefined` when it does. */
export type SchemaCheck = (value: JsonValue) => string | undefined;

/** A check, or why there is none. */
export type CompiledCheck = { readonly check: SchemaCheck } | { readonly problem: string };

/**
 * Compiles a JSON Schema (2020-12) once.
 *
 * Shape: `format` is an annotation, unknown keywords are let through, as MCP clients write them. A sentence names the place
 * and the rule, never the value: it may be a secret.
 */
export function compileSchema(schema: JsonObject): CompiledCheck {
  const { $schema, ...plain } = schema; // whatever dialect is named, it is read as this one
  try {
    const validate = new Ajv2020({ strict: false, validateFormats: false, allErrors: false, logger: false }).compile(
      plain,
    );
    return {
      check: (value) => {
        if (validate(value)) return undefined;
        const [error] = validate.errors ?? [];
        if (error === undefined) return 'does not fit the schema';
        const place = error.instancePath.slice(1).replaceAll('/', '.');
        return `${place === '' ? '' : `${place}: `}${error.message ?? 'does not fit'}${named(error.params)}`;
      },
    };
  } catch (cause) {
    return { problem: `is no JSON Schema: ${cause instanceof Error ? cause.message : String(cause)}` };
  }
}

function named(params: Readonly<Record<string, unknown>>): string {
  const { additionalProperty, allowedValues } = params;
  if (typeof additionalProperty === 'string') return ` ("${additionalProperty.slice(0, 100)}")`;
  return Array.isArray(allowedValues) ? ` (${allowedValues.map(String).join(', ')})` : '';
}

/** How deep values lie inside one another; stops counting behind `max`. */
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
