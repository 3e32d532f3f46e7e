import type { Addition, Rule } from '@toolmgr/plugins/kit/kubernetes';
import type { JsonSchema } from './json-schema.ts';
import type { FindSchema } from './section-schemas.ts';

/** A structural schema. Source: Kubernetes `apiextensions.k8s.io/v1` JSONSchemaProps. */
export interface Structural {
  readonly description?: string;
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Structural>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Structural;
  readonly items?: Structural;
  readonly 'x-kubernetes-preserve-unknown-fields'?: true;
  readonly 'x-kubernetes-int-or-string'?: true;
  readonly 'x-kubernetes-list-type'?: 'set' | 'map';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-validations'?: readonly Rule[];
  /** Never in a CRD: the section of a plugin that cannot be loaded, which takes no additions. */
  readonly isUnchecked?: true;
}

const ANY = { 'x-kubernetes-preserve-unknown-fields': true } as const;

/** The schema is part of a section of a vmcp file. */
interface InSection {
  readonly namedSecrets: boolean;
}

/**
 * The structural schema of a JSON Schema. Schemas of sections are put where `section` names them; their defaults that are empty
 * are left out, since nothing is the same as an empty list.
 *
 * Alternatives that are all objects become one object; others accept every value.
 * @throws Error when an addition has no place
 */
export function structural(schema: JsonSchema, find: FindSchema, inSection?: InSection): Structural {
  const { section, description, rules } = schema;
  if (schema.isUnchecked) return { ...described(description), ...ANY, isUnchecked: true };
  if (schema.isSecretReference && inSection?.namedSecrets) {
    const { name, key } = schema.properties ?? {};
    return structural(
      { type: 'object', description, properties: { name, key }, required: ['name', 'key'] } as JsonSchema,
      find,
    );
  }
  if (section !== undefined) {
    const { within: ofPlugin, namedSecrets = false, ...found } = find(section);
    const { description: own, ...rest } = structural(found, find, { namedSecrets });
    const added = Object.entries({ ...ofPlugin, ...schema.within }).reduce<Structural>(
      (at, [path, addition]) => withAddition(at, path === '' ? [] : path.split('.'), addition, path),
      rest,
    );
    return { ...described(description ?? own), ...added };
  }
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (schema.intOrString) return { ...described(description), 'x-kubernetes-int-or-string': true };
  if (alternatives !== undefined) {
    const one = schema.preserveUnknown ? undefined : merged(alternatives);
    if (one === undefined) return { ...described(description), ...ANY };
    return structural({ ...one, ...described(description) }, find, inSection);
  }
  const type = typeOf(schema);
  if (type === undefined) return { ...described(description), ...ANY };
  const inside = (each: JsonSchema): Structural => structural(each, find, inSection);
  return {
    ...described(description),
    type,
    ...(type === 'integer' || type === 'number' ? numbers(schema) : {}),
    ...only(schema, ['pattern', 'minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties']),
    ...(schema.format === 'date-time' ? { format: 'date-time' } : {}),
    ...(schema.const === undefined ? only(schema, ['enum']) : { enum: [schema.const] }),
    ...(schema.default === undefined || (inSection !== undefined && isEmpty(schema.default))
      ? {}
      : { default: schema.default }),
    ...(type === 'object' ? members(schema, inside) : {}),
    ...(type === 'array' ? { items: typeof schema.items === 'object' ? inside(schema.items) : ANY } : {}),
    ...(schema.listType && { 'x-kubernetes-list-type': schema.listType }),
    ...(schema.listMapKeys && { 'x-kubernetes-list-map-keys': schema.listMapKeys }),
    ...(rules && { 'x-kubernetes-validations': rules.map(validation) }),
  };
}

function described(description: string | undefined): { description?: string } {
  return description === undefined ? {} : { description };
}

function typeOf({ type, const: value, enum: values, properties }: JsonSchema): string | undefined {
  if (typeof type === 'string') return type;
  if (type !== undefined) return undefined;
  if (properties !== undefined) return 'object';
  const sample = value ?? values?.[0];
  return typeof sample === 'string' || typeof sample === 'boolean' ? typeof sample : undefined;
}

/** Object members. Map values and members exclude each other; `additionalProperties: false` is what structural schemas mean. */
function members(schema: JsonSchema, inside: (each: JsonSchema) => Structural): Structural {
  const { properties, required, additionalProperties, preserveUnknown } = schema;
  const isOpen = preserveUnknown || (properties === undefined && additionalProperties === undefined);
  if (properties === undefined && typeof additionalProperties === 'object' && !preserveUnknown) {
    return { additionalProperties: inside(additionalProperties) };
  }
  const entries = Object.entries(properties ?? {});
  return {
    ...(entries.length === 0
      ? {}
      : { properties: Object.fromEntries(entries.map(([key, each]) => [key, inside(each)])) }),
    ...(required === undefined || required.length === 0 ? {} : { required }),
    ...(isOpen || (typeof additionalProperties === 'object' && properties !== undefined) ? ANY : {}),
  };
}

const MAX_INT32 = 2_147_483_647;

/** Bounds of safe integers, which zod gives every integer, are left out. */
function numbers({ type, minimum, maximum, exclusiveMinimum, format }: JsonSchema): Structural {
  const low = minimum === Number.MIN_SAFE_INTEGER ? undefined : minimum;
  const high = maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum;
  const size = high !== undefined && high <= MAX_INT32 ? 'int32' : 'int64';
  return {
    ...(type === 'integer' ? { format: format === 'int32' || format === 'int64' ? format : size } : {}),
    ...(low === undefined ? {} : { minimum: low }),
    ...(exclusiveMinimum === undefined ? {} : { minimum: exclusiveMinimum, exclusiveMinimum: true }),
    ...(high === undefined ? {} : { maximum: high }),
  };
}

function only<K extends keyof JsonSchema>(schema: JsonSchema, keys: readonly K[]): Pick<JsonSchema, K> {
  return Object.fromEntries(keys.filter((key) => schema[key] !== undefined).map((key) => [key, schema[key]])) as Pick<
    JsonSchema,
    K
  >;
}

function isEmpty(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return value === '';
}

/** One object with the members of all alternatives; only those that every one requires are required. */
function merged(alternatives: readonly JsonSchema[]): JsonSchema | undefined {
  if (!alternatives.every(({ properties }) => properties !== undefined)) return undefined;
  const properties: Record<string, JsonSchema> = {};
  for (const { properties: own = {} } of alternatives) {
    for (const [key, member] of Object.entries(own)) {
      const other = properties[key];
      properties[key] = other === undefined ? member : { ...other, ...either(other, member) };
    }
  }
  const [first, ...others] = alternatives.map(({ required = [] }) => required);
  return {
    type: 'object',
    properties,
    required: (first ?? []).filter((key) => others.every((required) => required.includes(key))),
  };
}

function either(one: JsonSchema, other: JsonSchema): JsonSchema {
  const values = [one, other].flatMap(({ const: value, enum: list }) => (value === undefined ? (list ?? []) : [value]));
  if (values.length === 0) return {};
  return { const: undefined, enum: [...new Set(values)] };
}

function validation({ rule, message, fieldPath, reason }: Rule): Rule {
  return {
    rule,
    message,
    ...(fieldPath === undefined ? {} : { fieldPath }),
    ...(reason === undefined ? {} : { reason }),
  };
}

/** Adds to the schema at a path: `a.b`, `[]` for items, `*` for values of a map. */
function withAddition(at: Structural, path: readonly string[], addition: Addition, whole: string): Structural {
  const [step, ...rest] = path;
  if (at.isUnchecked) return at;
  if (step === undefined) return changed(at, addition, whole);
  const next = (found: Structural | undefined): Structural => {
    if (found === undefined) throw new Error(`an addition has no place: ${whole}`);
    return withAddition(found, rest, addition, whole);
  };
  if (step === '[]') return { ...at, items: next(at.items) };
  if (step === '*') return { ...at, additionalProperties: next(at.additionalProperties) };
  return { ...at, properties: { ...at.properties, [step]: next(at.properties?.[step]) } };
}

function changed(at: Structural, addition: Addition, whole: string): Structural {
  const { rules = [], forbidden = {}, listMapKeys, listType, ...keywords } = addition;
  for (const key of [...Object.keys(forbidden), ...(keywords.required ?? [])]) {
    if (at.properties?.[key] === undefined)
      throw new Error(`an addition names a key that is not there: ${whole}.${key}`);
  }
  const absent = Object.entries(forbidden).map(([key, why]) => absentRule(key, why));
  const validations = [...(at['x-kubernetes-validations'] ?? []), ...[...rules, ...absent].map(validation)];
  const opaque = Object.entries(forbidden).map(([key, why]): [string, Structural] => [
    key,
    { type: 'object', description: `must be absent: ${why}`, ...ANY },
  ]);
  return {
    ...at,
    ...keywords,
    ...(opaque.length === 0 ? {} : { properties: { ...at.properties, ...Object.fromEntries(opaque) } }),
    ...(listType && { 'x-kubernetes-list-type': listType }),
    ...(listMapKeys && { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': listMapKeys }),
    ...(validations.length === 0 ? {} : { 'x-kubernetes-validations': validations }),
  };
}

function absentRule(key: string, why: string): Rule {
  return {
    rule: `!has(self.${key})`,
    message: `${key} must be absent: ${why}`,
    fieldPath: `.${key}`,
    reason: 'FieldValueForbidden',
  };
}
