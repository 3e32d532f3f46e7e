import type { KubeMeta } from '@toolmgr/plugins/kit/kubernetes';
import { z } from 'zod';

/** The keywords of JSON Schema 2020-12 that zod writes, and ours. */
export interface JsonSchema extends Omit<KubeMeta, 'format'> {
  readonly isSecretReference?: true;
  /** The section of a plugin that cannot be loaded: everything is accepted. */
  readonly isUnchecked?: true;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly description?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema | boolean;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
}

/** What a document that the schema reads looks like. References are left only where a schema contains itself. */
export function jsonSchemaOf(schema: z.ZodType): JsonSchema {
  const written = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'inline' }) as JsonSchema;
  return written.$defs === undefined ? written : withoutReferences(written, written.$defs, 0);
}

/** Levels of a recursive schema that are written out; below them everything is accepted. */
const MAX_LEVELS = 3;

function withoutReferences(schema: JsonSchema, defs: Readonly<Record<string, JsonSchema>>, level: number): JsonSchema {
  const { $ref, $defs, ...own } = schema;
  if ($ref !== undefined) {
    const target = defs[$ref.slice('#/$defs/'.length)];
    if (target === undefined || level >= MAX_LEVELS) return own;
    return { ...withoutReferences(target, defs, level + 1), ...own };
  }
  const inner = (each: JsonSchema): JsonSchema => withoutReferences(each, defs, level);
  const { properties, additionalProperties, items, anyOf, oneOf, allOf } = own;
  return {
    ...own,
    ...(properties && { properties: mapped(properties, inner) }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: inner(additionalProperties) }),
    ...(typeof items === 'object' && { items: inner(items) }),
    ...(anyOf && { anyOf: anyOf.map(inner) }),
    ...(oneOf && { oneOf: oneOf.map(inner) }),
    ...(allOf && { allOf: allOf.map(inner) }),
  };
}

function mapped<V, W>(record: Readonly<Record<string, V>>, change: (value: V) => W): Readonly<Record<string, W>> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}
