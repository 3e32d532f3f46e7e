import type { Call, CatalogEntry } from '../contract/call.ts';
import type { JsonObject, JsonValue, RawJson } from '../contract/json.ts';
import type { WireError } from '../contract/wire-error.ts';
import { ambiguousNameIn, type DeclaredNames, declaredNames } from '../json/ambiguous-names.ts';
import { decodeObject, isObject } from '../json/json-value.ts';
import { CODE, echoed, wireError } from '../mcp/errors.ts';

/**
 * -32602 when an argument of the call could be confused with another one: it differs only by case from an argument that
 * the tool or prompt declares, or from another argument of the call, at any depth. A backend that ignores case would
 * use a value that no policy has checked.
 */
export function ambiguousArguments(call: Call): WireError | undefined {
  if (call.method !== 'tools/call' && call.method !== 'prompts/get') return undefined;
  const given = call.arguments;
  const found = hasMembers(given) ? ambiguousNameIn(given, declaredBy(call.target)) : undefined;
  if (found === undefined) return undefined;
  const names = `${JSON.stringify(echoed(found.name))} and ${JSON.stringify(echoed(found.other))}`;
  return wireError(CODE.invalidParams, `${call.method}: the argument names ${names} differ only by case`);
}

function hasMembers(object: JsonObject): boolean {
  for (const _ in object) return true;
  return false;
}

/** Cached by definition, because an unchanged list keeps its definitions. */
const known = new WeakMap<RawJson, DeclaredNames>();

function declaredBy({ kind, definition }: CatalogEntry): DeclaredNames {
  let names = known.get(definition);
  if (names === undefined) {
    const decoded = decodeObject(definition) ?? {};
    names = kind === 'prompt' ? ofPrompt(decoded.arguments) : ofSchema(decoded.inputSchema, 0);
    known.set(definition, names);
  }
  return names;
}

function ofPrompt(given: JsonValue | undefined): DeclaredNames {
  const names = Array.isArray(given) ? (given as readonly JsonValue[]).map((one) => isObject(one) && one.name) : [];
  return declaredNames(names.filter((name) => typeof name === 'string'));
}

/** Properties of a schema and of the schemas that it combines; a `$ref` declares none. */
function ofSchema(schema: JsonValue | undefined, depth: number): DeclaredNames {
  const below = new Map<string, DeclaredNames>();
  const names = new Set<string>();
  collect(schema, names, below, depth);
  return declaredNames(names, below);
}

function collect(
  schema: JsonValue | undefined,
  names: Set<string>,
  below: Map<string, DeclaredNames>,
  depth: number,
): void {
  if (!isObject(schema) || depth > MAX_DEPTH) return;
  for (const [name, property] of Object.entries(propertiesOf(schema))) {
    names.add(name);
    const inner = isObject(property) && isObject(property.items) ? property.items : property;
    if (isObject(inner) && !below.has(name) && DECLARING.some((key) => inner[key] !== undefined)) {
      below.set(name, ofSchema(inner, depth + 1));
    }
  }
  for (const key of COMBINING) {
    const parts = schema[key];
    if (!Array.isArray(parts)) continue;
    for (const part of parts as readonly JsonValue[]) collect(part, names, below, depth + 1);
  }
}

function propertiesOf({ properties }: JsonObject): JsonObject {
  return isObject(properties) ? properties : {};
}

const COMBINING = ['allOf', 'anyOf', 'oneOf'] as const;
const DECLARING = ['properties', ...COMBINING] as const;
const MAX_DEPTH = 64;
