import { isObject, nearest } from '@toolmgr/core';
import type { ManifestProblem } from './manifest-problem.ts';
import type { Structural } from './structural.ts';

/** What a check of one value finds: the value with its defaults, and its problems. */
export interface Checked {
  readonly value: unknown;
  readonly problems: readonly ManifestProblem[];
}

/** Checks a value as the API server does: unknown members, defaults, then the keywords of the schema. Rules are checked later. */
export function checkValue(schema: Structural, given: unknown, path: string): Checked {
  const problems: ManifestProblem[] = [];
  const value = read(schema, given, path, (at, message) => void problems.push({ path: at, message }));
  return { value, problems };
}

type Refuse = (path: string, message: string) => void;

function read(schema: Structural, given: unknown, path: string, refuse: Refuse): unknown {
  if (schema['x-kubernetes-int-or-string']) {
    if (typeof given !== 'string' && !Number.isInteger(given))
      refuse(path, `expected an integer or a text${got(given)}`);
    return given;
  }
  if (schema.type === undefined) return given;
  if (!isOfType(schema.type, given)) {
    refuse(path, `expected ${TYPE_NAMES[schema.type] ?? schema.type}${got(given)}`);
    return given;
  }
  checkKeywords(schema, given, path, refuse);
  if (Array.isArray(given)) return readItems(schema, given, path, refuse);
  return isObject(given) ? readMembers(schema, given, path, refuse) : given;
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  object: 'an object',
  array: 'a list',
  string: 'a text',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
};

function isOfType(type: string, value: unknown): boolean {
  if (type === 'object') return isObject(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}

function got(value: unknown): string {
  if (value === null) return ', got null';
  return `, got ${Array.isArray(value) ? 'a list' : (TYPE_NAMES[typeof value] ?? typeof value)}`;
}

function readItems(schema: Structural, given: readonly unknown[], path: string, refuse: Refuse): unknown {
  const { items = {}, 'x-kubernetes-list-type': listType, 'x-kubernetes-list-map-keys': keys = [] } = schema;
  const values = given.map((item, index) => read(items, item, `${path}[${index}]`, refuse));
  if (listType === undefined) return values;
  const seen = new Set<string>();
  for (const [index, item] of values.entries()) {
    const identity = JSON.stringify(isObject(item) && keys.length > 0 ? keys.map((key) => item[key]) : item);
    if (seen.has(identity)) refuse(`${path}[${index}]`, 'is a duplicate of an entry before it');
    seen.add(identity);
  }
  return values;
}

function readMembers(
  schema: Structural,
  given: Readonly<Record<string, unknown>>,
  path: string,
  refuse: Refuse,
): Record<string, unknown> {
  const { properties = {}, additionalProperties, required = [] } = schema;
  const value: Record<string, unknown> = {};
  const known = Object.keys(properties);
  for (const [key, member] of Object.entries(given)) {
    const isDeclared = Object.hasOwn(properties, key);
    const at = isDeclared || additionalProperties === undefined ? join(path, key) : `${path}[${key}]`;
    const own = isDeclared ? properties[key] : additionalProperties;
    if (own !== undefined) {
      // the API server drops a null
      if (member !== null) value[key] = read(own, member, at, refuse);
    } else if (schema['x-kubernetes-preserve-unknown-fields']) value[key] = member;
    else refuse(at, unknownMember(key, known));
  }
  for (const [key, member] of Object.entries(properties)) {
    if (Object.hasOwn(value, key) || member.default === undefined) continue;
    value[key] = read(member, structuredClone(member.default), join(path, key), refuse);
  }
  for (const key of required) {
    if (!Object.hasOwn(value, key)) refuse(join(path, key), 'is required');
  }
  return value;
}

/** The path of a member, as the API server writes it. */
export function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

function unknownMember(key: string, known: readonly string[]): string {
  const hint = nearest(key, known);
  return hint === undefined ? `unknown field (known: ${known.join(', ')})` : `unknown field, did you mean "${hint}"?`;
}

/** Patterns of the schemas of this product. */
const PATTERNS = new Map<string, RegExp>();

function patternOf(source: string): RegExp {
  const known = PATTERNS.get(source) ?? new RegExp(source, 'u');
  PATTERNS.set(source, known);
  return known;
}

function checkKeywords(schema: Structural, value: unknown, path: string, refuse: Refuse): void {
  const { enum: values, pattern, minimum, maximum, exclusiveMinimum } = schema;
  if (values !== undefined && !values.includes(value)) {
    const hint = typeof value === 'string' ? nearest(value, values.map(String)) : undefined;
    refuse(
      path,
      `expected one of ${values.map((each) => JSON.stringify(each)).join(', ')}${hint === undefined ? '' : `, did you mean "${hint}"?`}`,
    );
  }
  if (typeof value === 'string') {
    within([...value].length, schema.minLength, schema.maxLength, 'characters', path, refuse);
    if (pattern !== undefined && !patternOf(pattern).test(value)) refuse(path, `does not match the pattern ${pattern}`);
    if (schema.format === 'date-time' && Number.isNaN(Date.parse(value))) refuse(path, 'expected an RFC 3339 time');
  }
  if (typeof value === 'number') {
    if (minimum !== undefined && (exclusiveMinimum ? value <= minimum : value < minimum)) {
      refuse(path, `expected ${exclusiveMinimum ? 'more than' : 'at least'} ${minimum}`);
    }
    if (maximum !== undefined && value > maximum) refuse(path, `expected at most ${maximum}`);
  }
  if (Array.isArray(value)) within(value.length, schema.minItems, schema.maxItems, 'entries', path, refuse);
  else if (isObject(value)) {
    within(Object.keys(value).length, schema.minProperties, schema.maxProperties, 'members', path, refuse);
  }
}

function within(
  size: number,
  least: number | undefined,
  most: number | undefined,
  unit: string,
  path: string,
  refuse: Refuse,
): void {
  if (least !== undefined && size < least) refuse(path, `expected at least ${least} ${unit}, got ${size}`);
  if (most !== undefined && size > most) refuse(path, `expected at most ${most} ${unit}, got ${size}`);
}
