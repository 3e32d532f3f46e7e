import { z } from 'zod';

/** A JSON Schema. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Converts zod schemas for one document. Schemas with an id (`meta({ id })`) are collected as components. */
export interface SchemaConverter {
  convert(schema: z.ZodType, io: 'input' | 'output'): JsonSchema;
  /** The collected schemas by name. */
  readonly components: Readonly<Record<string, JsonSchema>>;
}

/** Creates a converter. A schema that differs as input and as output gets two names: `X` and `XInput`. */
export function createSchemaConverter(): SchemaConverter {
  const components: Record<string, JsonSchema> = {};
  return {
    components,
    convert(schema, io) {
      const { $schema: _, $defs, ...root } = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as JsonSchema;
      const definitions = Object.entries(($defs as Record<string, JsonSchema> | undefined) ?? {});
      const names = new Map(definitions.map(([id, definition]) => [id, nameFor(components, id, definition, io)]));
      const point = (value: unknown): unknown => pointed(value, names);
      for (const [id, definition] of definitions)
        components[names.get(id) ?? id] = point(withoutId(definition)) as JsonSchema;
      return point(root) as JsonSchema;
    },
  };
}

function nameFor(known: Readonly<Record<string, JsonSchema>>, id: string, definition: JsonSchema, io: string): string {
  const other = known[id];
  if (other === undefined || io === 'output')
    return other === undefined || isSame(other, definition) ? id : `${id}Output`;
  return isSame(other, definition) ? id : `${id}Input`;
}

/** Compares without references, which are renamed in a collected schema. */
function isSame(a: JsonSchema, b: JsonSchema): boolean {
  const plain = (schema: JsonSchema): string =>
    JSON.stringify(withoutId(schema)).replace(/"#\/(?:\$defs|components\/schemas)\/(\w+?)(?:Input|Output)?"/g, '"$1"');
  return plain(a) === plain(b);
}

function withoutId({ id: _, ...schema }: JsonSchema): JsonSchema {
  return schema;
}

function pointed(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item) => pointed(item, names));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (key !== '$ref' || typeof inner !== 'string') return [key, pointed(inner, names)];
      const id = inner.replace('#/$defs/', '');
      return [key, `#/components/schemas/${names.get(id) ?? id}`];
    }),
  );
}
