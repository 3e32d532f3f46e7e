import type { JsonObject, JsonValue, ToolEntry } from '@toolmgr/core';

/** The texts of a tool by field, because fields have different weights. */
export interface ToolTexts {
  readonly name: string;
  readonly backend: string;
  readonly description: string;
  readonly parameters: string;
  readonly parameterTexts: string;
}

/** Maximum characters of a description: the rest of a long one is usually examples and warnings. */
export const MAX_DESCRIPTION = 4_000;
const MAX_PARAMETERS = 100;
const MAX_PARAMETER_TEXT = 300;
const MAX_DEPTH = 4;

/** Reads the texts of an entry; only the name when the definition is not an object. */
export function textsOf(tool: ToolEntry): ToolTexts {
  const definition = objectOf(decoded(tool));
  const found: Found = { names: [], texts: [] };
  collect(definition.inputSchema, found, 0);
  return {
    name: nameOf(tool),
    backend: tool.backend,
    description: [titleOf(definition), stringOf(definition.description).slice(0, MAX_DESCRIPTION)].join('\n').trim(),
    parameters: found.names.join(' '),
    parameterTexts: found.texts.join('\n'),
  };
}

/** The original name when the advertised one only adds a prefix: the backend is its own field. */
function nameOf({ key, original }: ToolEntry): string {
  return key.endsWith(original) ? original : key;
}

interface Found {
  readonly names: string[];
  readonly texts: string[];
}

function decoded(tool: ToolEntry): JsonValue | undefined {
  try {
    return JSON.parse(tool.definition.toString('utf8')) as JsonValue;
  } catch {
    return undefined; // an invalid entry of a plugin is still found by its name
  }
}

function titleOf(definition: JsonObject): string {
  return stringOf(definition.title) || stringOf(objectOf(definition.annotations).title);
}

function collect(schema: JsonValue | undefined, found: Found, depth: number): void {
  if (depth >= MAX_DEPTH) return;
  for (const [name, value] of Object.entries(objectOf(objectOf(schema).properties))) {
    if (found.names.length >= MAX_PARAMETERS) return;
    const property = objectOf(value);
    found.names.push(name);
    const choices = Array.isArray(property.enum) ? property.enum.filter((each) => typeof each === 'string') : [];
    found.texts.push([stringOf(property.description), ...choices].join(' ').slice(0, MAX_PARAMETER_TEXT));
    collect(property, found, depth + 1);
    collect(property.items, found, depth + 1);
  }
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

function stringOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
