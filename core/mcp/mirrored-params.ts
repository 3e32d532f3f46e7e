import type { MirroredParam } from '../contract/catalog-entry.ts';
import type { JsonObject, JsonValue, RawJson } from '../contract/json.ts';
import { decodeObject, encode, isObject } from '../json/json-value.ts';
import { rawElements } from '../json/raw-elements.ts';
import { RawObject } from '../json/raw-json.ts';
import { FIELD_NAME } from './header-fields.ts';
import { encodeHeaderValue } from './headers.ts';

const ANNOTATION = 'x-mcp-header';
const ANNOTATION_BYTES = Buffer.from(`"${ANNOTATION}"`);
/** Deeper schemas are not searched: an annotation there makes the tool invalid. */
const MAX_SCHEMA_DEPTH = 64;

/** The parsed `x-mcp-header` annotations of a tool. */
export type Annotations = { readonly mirrored: readonly MirroredParam[] } | { readonly invalid: string };

/**
 * Compiles the `x-mcp-header` annotations of a tool definition.
 *
 * Shape: only on string, integer and boolean properties that are reached from the root by `properties` alone; names are
 * tokens, unique ignoring case. `undefined` for a tool without annotations.
 * Source: MCP 2026-07-28 streamable HTTP, custom headers from tool parameters.
 */
export function readAnnotations(definition: RawJson): Annotations | undefined {
  if (!definition.includes(ANNOTATION_BYTES)) return undefined;
  const schema = decodeObject(definition)?.inputSchema;
  if (!isObject(schema)) return undefined;
  const found: MirroredParam[] = [];
  const trouble = search(schema, [], true, found);
  if (trouble !== undefined) return { invalid: trouble };
  const names = new Set(found.map((param) => param.header.toLowerCase()));
  if (names.size !== found.length) return { invalid: 'two parameters are mirrored into one header' };
  return found.length === 0 ? undefined : { mirrored: found };
}

/** The definition without any `x-mcp-header`; all other bytes are kept. */
export function stripAnnotations(definition: RawJson): RawJson {
  const members = RawObject.parse(definition);
  const schema = members.get('inputSchema');
  return schema === undefined ? definition : members.with('inputSchema', stripped(schema, false)).toBytes();
}

/** Adds `mcp-param-*` headers for the present arguments. */
export function mirrorArguments(
  headers: Record<string, string>,
  mirrored: readonly MirroredParam[],
  args: JsonObject,
): void {
  for (const { header, path, type } of mirrored) {
    let value: JsonValue | undefined = args;
    for (const step of path) value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
    const text = mirroredText(value, type);
    if (text !== undefined) headers[`mcp-param-${header.toLowerCase()}`] = encodeHeaderValue(text);
  }
}

/** `Mcp-Param-*` headers of a call to a tool as its server lists it (MCP 2026-07-28, transports). */
export function mirroredHeaders(tool: JsonObject, args: JsonObject): Record<string, string> {
  const annotations = readAnnotations(encode(tool));
  const headers: Record<string, string> = {};
  if (annotations !== undefined && 'mirrored' in annotations) mirrorArguments(headers, annotations.mirrored, args);
  return headers;
}

/** A value of another type gets no header: the error of the server explains the mistake better. */
function mirroredText(value: JsonValue | undefined, type: MirroredParam['type']): string | undefined {
  if (type === 'string') return typeof value === 'string' ? value : undefined;
  if (type === 'boolean') return typeof value === 'boolean' ? String(value) : undefined;
  return typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : undefined;
}

/** Fills `found`; returns the reason when the tool is invalid. */
function search(
  schema: JsonObject,
  path: readonly string[],
  reachable: boolean,
  found: MirroredParam[],
): string | undefined {
  if (path.length > MAX_SCHEMA_DEPTH) return 'the schema is nested too deeply';
  const name = schema[ANNOTATION];
  if (name !== undefined) {
    const trouble = annotationTrouble(name, schema.type, path, reachable);
    if (trouble !== undefined) return trouble;
    found.push({ header: String(name), path, type: schema.type as MirroredParam['type'] });
  }
  for (const [key, part] of Object.entries(schema)) {
    const trouble = searchPart(key, part, path, reachable, found);
    if (trouble !== undefined) return trouble;
  }
  return undefined;
}

function searchPart(
  key: string,
  part: JsonValue | undefined,
  path: readonly string[],
  reachable: boolean,
  found: MirroredParam[],
): string | undefined {
  const kind = SUBSCHEMAS.get(key);
  if (kind === undefined) return undefined;
  const inProperties = key === 'properties';
  const parts: readonly (readonly [string, JsonValue | undefined])[] =
    kind === 'map' && isObject(part)
      ? Object.entries(part)
      : (Array.isArray(part) ? part : [part]).map((one) => [key, one]);
  for (const [step, schema] of parts) {
    if (!isObject(schema)) continue;
    const trouble = search(schema, [...path, step], reachable && inProperties, found);
    if (trouble !== undefined) return trouble;
  }
  return undefined;
}

/** Keywords of JSON Schema 2020-12 (and draft 7) that contain schemas. Data such as `default` is not searched. */
const SUBSCHEMAS: ReadonlyMap<string, 'map' | 'schemas'> = new Map([
  ...'properties patternProperties $defs definitions dependentSchemas'.split(' ').map((key) => [key, 'map'] as const),
  ...(
    'items prefixItems additionalItems contains oneOf anyOf allOf not if then else additionalProperties ' +
    'unevaluatedProperties unevaluatedItems propertyNames'
  )
    .split(' ')
    .map((key) => [key, 'schemas'] as const),
]);

function annotationTrouble(
  name: JsonValue,
  type: JsonValue | undefined,
  path: readonly string[],
  reachable: boolean,
): string | undefined {
  if (typeof name !== 'string' || !FIELD_NAME.test(name)) return 'a header name is not a token';
  if (!reachable || path.length === 0) return 'a mirrored parameter is not reached by properties alone';
  if (type !== 'string' && type !== 'integer' && type !== 'boolean') return 'a mirrored parameter is not a plain value';
  return undefined;
}

/** Of one array of a schema. */
const MAX_ELEMENTS = 10_000;

function stripped(raw: RawJson, isPropertyMap: boolean): RawJson {
  if (raw[0] === 0x5b) return rejoin(rawElements(raw, MAX_ELEMENTS).map((element) => stripped(element, false)));
  if (raw[0] !== 0x7b || !raw.includes(ANNOTATION_BYTES)) return raw;
  const members = isPropertyMap ? RawObject.parse(raw) : RawObject.parse(raw).without(ANNOTATION);
  const kept = members.keys().map((key): [string, RawJson] => {
    const value = members.get(key) as RawJson;
    return [key, stripped(value, !isPropertyMap && SUBSCHEMAS.get(key) === 'map')];
  });
  return RawObject.of(kept).toBytes();
}

function rejoin(elements: readonly RawJson[]): RawJson {
  const parts: Buffer[] = [];
  for (const element of elements) parts.push(Buffer.from(parts.length === 0 ? '[' : ','), element);
  return Buffer.concat([...parts, Buffer.from(elements.length === 0 ? '[]' : ']')]);
}
