import { isObject, type JsonObject, type JsonValue } from '@toolmgr/core';
import { UsageError } from '../../shared/usage-error.ts';

/**
 * The arguments of a call from `--args` and `key=value` pairs; pairs win.
 *
 * A value is read as the tool's schema says: text for strings, JSON for numbers, booleans, lists and objects. Without a
 * word in the schema, what reads as a JSON number, boolean or null is one, and the rest is text.
 * @throws UsageError naming the pair or option that cannot be read
 */
export function argumentsFrom(
  json: string | undefined,
  pairs: readonly string[],
  schema: JsonValue | undefined,
): JsonObject {
  const args: Record<string, JsonValue> = {};
  if (json !== undefined) Object.assign(args, objectFrom(json));
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    if (at < 1) throw new UsageError(`"${pair}" is not key=value; several words need quotes: message="hello world"`);
    const key = pair.slice(0, at);
    args[key] = valueFrom(pair.slice(at + 1), typesOf(schema, key), key);
  }
  return args;
}

function objectFrom(json: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (cause) {
    throw new UsageError(`--args is not JSON (${cause instanceof Error ? cause.message : String(cause)})`);
  }
  if (isObject(value)) return value;
  throw new UsageError(`--args must be a JSON object such as '{"message":"hello"}'`);
}

function typesOf(schema: JsonValue | undefined, key: string): readonly string[] {
  if (!isObject(schema) || !isObject(schema.properties)) return [];
  const property = Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined;
  if (!isObject(property)) return [];
  const { type } = property;
  return (Array.isArray(type) ? type : [type]).filter((one): one is string => typeof one === 'string');
}

function valueFrom(text: string, types: readonly string[], key: string): JsonValue {
  if (types.length === 0)
    return /^(-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?|true|false|null)$/.test(text) ? JSON.parse(text) : text;
  const value = parse(text);
  if (value !== undefined && types.includes(kindOf(value))) return value;
  if (value !== undefined && kindOf(value) === 'integer' && types.includes('number')) return value;
  if (types.includes('string')) return text;
  throw new UsageError(`${key}: expected ${types.join(' or ')}, got "${text}"`);
}

function kindOf(value: JsonValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
