import type { CatalogEntry } from '../contract/call.ts';
import type { Era } from '../contract/era.ts';
import type { JsonObject, JsonValue, RawJson } from '../contract/json.ts';
import { decode, encode, isObject } from '../json/json-value.ts';
import { RawObject } from '../json/raw-json.ts';

/**
 * A copy of a tool or prompt with another key; only `name` of its definition changes, all other bytes are kept.
 *
 * Shape: `by` is appended to `shapedBy`. The same arguments return the same definition bytes, so that data cached per
 * definition (serialised items) survives a rebuild.
 */
export function renamed<E extends CatalogEntry>(entry: E, key: string, by: string): E {
  const definition = definitionNamed(entry.definition, key);
  const shapedBy = [...entry.shapedBy, by];
  if (entry.key === entry.original) return { ...entry, key, definition, shapedBy };
  return { ...entry, key, definition, shapedBy, aliases: [...(entry.aliases ?? []), entry.key] };
}

/** The definition with `name` set; the same buffer when the name is already set. */
export function definitionNamed(definition: RawJson, name: string): RawJson {
  const facts = factsOf(definition);
  if (facts.name === name) return definition;
  if (facts.renamed?.name === name) return facts.renamed.definition;
  const changed = RawObject.parse(definition).with('name', encode(name)).toBytes();
  facts.renamed = { name, definition: changed };
  return changed;
}

/** The list item for clients of an era. Made once per definition. */
export function itemBytes(entry: CatalogEntry, era: Era): RawJson {
  if (entry.kind !== 'tool') return entry.definition;
  const facts = factsOf(entry.definition);
  facts.plain ??= plainItem(entry.definition);
  if (era === '2026-07-28' || !needsWrapping(entry)) return facts.plain;
  facts.wrapped ??= wrappedItem(facts.plain);
  return facts.wrapped;
}

/** Without `execution`: the gateway serves no tasks. */
function plainItem(definition: RawJson): RawJson {
  const members = RawObject.parse(definition);
  return members.has('execution') ? members.without('execution').toBytes() : definition;
}

function wrappedItem(definition: RawJson): RawJson {
  const members = RawObject.parse(definition);
  return members.with('outputSchema', wrappedSchema(members.get('outputSchema'))).toBytes();
}

/**
 * Whether legacy clients get this tool's output wrapped in `result`: its schema is not an object schema, and 2025-11-25
 * allows no other. The answer of its call wraps `structuredContent` in the same way. Schemas of legacy backends are
 * forwarded unchanged.
 */
export function needsWrapping(entry: Pick<CatalogEntry, 'definition' | 'era'>): boolean {
  if (entry.era === '2025-11-25') return false;
  const facts = factsOf(entry.definition);
  facts.isWrapping ??= hasOtherRoot(RawObject.parse(entry.definition));
  return facts.isWrapping;
}

/**
 * Facts about one definition, cached as long as the definition exists. The parsed members are not cached: they are read
 * only when lists change, and thousands of tools would keep them in memory.
 */
interface Facts {
  readonly name: string | undefined;
  renamed: { readonly name: string; readonly definition: RawJson } | undefined;
  plain: RawJson | undefined;
  wrapped: RawJson | undefined;
  isWrapping: boolean | undefined;
}

const known = new WeakMap<RawJson, Facts>();

function factsOf(definition: RawJson): Facts {
  const found = known.get(definition);
  if (found !== undefined) return found;
  const name = RawObject.parse(definition).string('name');
  const facts: Facts = { name, renamed: undefined, plain: undefined, wrapped: undefined, isWrapping: undefined };
  known.set(definition, facts);
  return facts;
}

function hasOtherRoot(members: RawObject): boolean {
  return members.has('outputSchema') && members.object('outputSchema')?.string('type') !== 'object';
}

/** `{type: object, properties: {result: schema}, required: [result]}`, with the pointers inside adapted. */
function wrappedSchema(schema: RawJson = TRUE): RawJson {
  const natural = decode(schema);
  const dialect = isObject(natural) && typeof natural.$schema === 'string' ? { $schema: natural.$schema } : {};
  const moved = schema.includes('Ref"') || schema.includes('ref"') ? encode(withMovedRefs(natural)) : schema;
  return RawObject.parse(encode({ ...dialect, type: 'object', properties: {}, required: ['result'] }))
    .with('properties', RawObject.empty().with('result', moved).toBytes())
    .toBytes();
}

/** Same-document pointers now start at the wrapper; a part with its own `$id` keeps its own root. */
function withMovedRefs(schema: JsonValue): JsonValue {
  if (Array.isArray(schema)) return schema.map(withMovedRefs);
  if (!isObject(schema)) return schema;
  if (typeof schema.$id === 'string' && !schema.$id.startsWith('#')) return schema;
  const entries = Object.entries(schema).map(([keyword, value = null]) => [keyword, movedKeyword(keyword, value)]);
  return Object.fromEntries(entries) as JsonObject;
}

function movedKeyword(keyword: string, value: JsonValue): JsonValue {
  if (POINTERS.has(keyword) && typeof value === 'string') return movedPointer(value);
  if (DATA.has(keyword)) return value;
  if (!NAME_MAPS.has(keyword) || !isObject(value)) return withMovedRefs(value);
  const entries = Object.entries(value).map(([name, inner = null]) => [name, withMovedRefs(inner)]);
  return Object.fromEntries(entries) as JsonObject;
}

function movedPointer(pointer: string): string {
  return pointer === '#' || pointer.startsWith('#/') ? `#/properties/result${pointer.slice(1)}` : pointer;
}

const TRUE = Buffer.from('true');
const POINTERS: ReadonlySet<string> = new Set(['$ref', '$dynamicRef']);
/** Keywords whose value is data and not a schema. */
const DATA: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples']);
/** Keywords whose keys are names chosen by an author, so that a name like `default` is not a keyword. */
const NAME_MAPS: ReadonlySet<string> = new Set([
  '$defs',
  'definitions',
  'dependencies',
  'dependentSchemas',
  'patternProperties',
  'properties',
]);
