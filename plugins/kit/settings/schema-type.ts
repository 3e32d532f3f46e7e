import { isObject, type JsonObject, type JsonValue } from '@toolmgr/core';

/** Level of detail of a type. */
export interface TypeDetail {
  /** Levels of nested objects and unions. */
  readonly depth: number;
  /** Characters of a property's description; 0 for none. */
  readonly comments: number;
}

/**
 * A JSON schema as a TypeScript type on one line. Unsupported parts become `unknown`; never fails for any schema of a backend.
 */
export function typeOfSchema(schema: JsonValue | undefined, detail: TypeDetail): string {
  return typeFrom(schema, { ...detail, root: schema, seen: [] });
}

interface At extends TypeDetail {
  readonly root: JsonValue | undefined;
  /** References that led here, to stop recursion. */
  readonly seen: readonly string[];
}

const MAX_PROPERTIES = 40;
const MAX_MEMBERS = 20; // of unions and enums

function typeFrom(schema: JsonValue | undefined, at: At): string {
  if (!isObject(schema)) return schema === false ? 'never' : 'unknown';
  if (typeof schema.$ref === 'string') return typeOfReference(schema.$ref, at);
  if (schema.const !== undefined) return literal(schema.const);
  if (Array.isArray(schema.enum)) return union((schema.enum as JsonValue[]).map(literal));
  const among = Array.isArray(schema.anyOf) ? schema.anyOf : schema.oneOf;
  if (Array.isArray(among)) return unionOf(among as JsonValue[], at);
  if (Array.isArray(schema.allOf) && schema.properties === undefined) {
    const parts = (schema.allOf as JsonValue[]).slice(0, MAX_MEMBERS).map((part) => typeFrom(part, deeper(at)));
    return at.depth <= 0 ? 'object' : parts.join(' & ') || 'unknown';
  }
  const kind = schema.type ?? (schema.properties === undefined ? undefined : 'object');
  if (Array.isArray(kind)) return union((kind as JsonValue[]).map((each) => typeOfKind(each, schema, at)));
  return typeOfKind(kind, schema, at);
}

function typeOfKind(kind: JsonValue | undefined, schema: JsonObject, at: At): string {
  if (kind === 'object') return objectType(schema, at);
  if (kind === 'array') return arrayType(schema, at);
  return PLAIN.get(kind) ?? 'unknown';
}

const PLAIN: ReadonlyMap<unknown, string> = new Map([
  ['string', 'string'],
  ['number', 'number'],
  ['integer', 'number'],
  ['boolean', 'boolean'],
  ['null', 'null'],
]);

function arrayType({ items }: JsonObject, at: At): string {
  const inner = typeFrom(items, deeper(at));
  return /[ |&]/.test(inner) && !inner.startsWith('{') ? `(${inner})[]` : `${inner}[]`;
}

function objectType(schema: JsonObject, at: At): string {
  const { properties, additionalProperties } = schema;
  const names = isObject(properties) ? Object.keys(properties) : [];
  if (names.length === 0) {
    const isOpen = additionalProperties !== undefined && additionalProperties !== false;
    return isOpen ? `Record<string, ${typeFrom(additionalProperties, deeper(at))}>` : '{}';
  }
  if (at.depth <= 0) return 'object';
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const members = names.slice(0, MAX_PROPERTIES).map((name) => {
    const property = (properties as JsonObject)[name];
    const mark = required.has(name) ? '' : '?';
    return `${propertyName(name)}${mark}: ${typeFrom(property, deeper(at))}${comment(property, at.comments)}`;
  });
  if (names.length > MAX_PROPERTIES) members.push('[more: string]: unknown');
  return `{ ${members.join('; ')} }`;
}

function comment(property: JsonValue | undefined, chars: number): string {
  if (chars === 0 || !isObject(property) || typeof property.description !== 'string') return '';
  const said = shortened(property.description, chars);
  return said === '' ? '' : ` /* ${said} */`;
}

function unionOf(among: readonly JsonValue[], at: At): string {
  return at.depth <= 0 ? 'unknown' : union(among.slice(0, MAX_MEMBERS).map((each) => typeFrom(each, deeper(at))));
}

function union(types: readonly string[]): string {
  const different = [...new Set(types)];
  const more = different.length > MAX_MEMBERS ? ' | string' : '';
  return `${different.slice(0, MAX_MEMBERS).join(' | ')}${more}` || 'never';
}

/** Follows references inside the schema; a recursive one is `unknown`. */
function typeOfReference(reference: string, at: At): string {
  if (!reference.startsWith('#/') || at.seen.includes(reference) || at.depth <= 0) return 'unknown';
  let found: JsonValue | undefined = at.root;
  for (const part of reference.slice(2).split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    found = isObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  }
  return typeFrom(found, { ...at, seen: [...at.seen, reference] });
}

function deeper(at: At): At {
  return { ...at, depth: at.depth - 1 };
}

function literal(value: JsonValue): string {
  const text = JSON.stringify(value);
  return text.length > 60 || isObject(value) || Array.isArray(value) ? 'unknown' : text;
}

function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

/** A text on one line, cut to a length, that cannot end a comment. */
export function shortened(text: string, chars: number): string {
  const line = text
    .slice(0, chars * 4)
    .replace(/\s+/g, ' ')
    .replaceAll('*/', '* /')
    .trim();
  return line.length > chars ? `${line.slice(0, chars - 1).trimEnd()}…` : line;
}
