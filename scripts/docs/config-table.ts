import { z } from 'zod';
import { code, table } from './markdown.ts';

/** The keywords of JSON Schema 2020-12 that the tables use. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly $ref?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
}

/** Rows of a table of keys: dotted path, type, default, description. */
export function configRows(schema: z.ZodType): readonly (readonly string[])[] {
  const root = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'inline' }) as Schema;
  return rowsOf(root, '', 0);
}

/** The same of a JSON Schema. */
export function schemaRows(schema: Schema): readonly (readonly string[])[] {
  return rowsOf(schema, '', 0, MAX_KUBE_DEPTH);
}

/** The table, or a sentence when there are no keys. */
export function configTable(schema: z.ZodType): string {
  const rows = configRows(schema);
  return rows.length === 0 ? 'No configuration.' : table(['key', 'type', 'default', 'meaning'], rows);
}

const MAX_DEPTH = 6; // stops recursive schemas
const MAX_KUBE_DEPTH = 20; // they are not recursive

function rowsOf(schema: Schema, prefix: string, depth: number, most = MAX_DEPTH): readonly (readonly string[])[] {
  if (depth > most) return [];
  const required = new Set(schema.required);
  const own = Object.entries(schema.properties ?? {}).flatMap(([key, member]) => {
    const path = prefix === '' ? key : `${prefix}.${key}`;
    return [row(path, member, required.has(key)), ...inside(member, path, depth, most)];
  });
  const alternatives = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  return distinct([...own, ...alternatives.flatMap((inner) => rowsOf(inner, prefix, depth + 1, most))]);
}

/** Keys inside a member: of an object, of list items, of map values. */
function inside(member: Schema, path: string, depth: number, most: number): readonly (readonly string[])[] {
  const values = typeof member.additionalProperties === 'object' ? member.additionalProperties : undefined;
  return [
    ...rowsOf(member, path, depth + 1, most),
    ...(member.items === undefined ? [] : rowsOf(member.items, `${path}[]`, depth + 1, most)),
    ...(values === undefined ? [] : rowsOf(values, `${path}.*`, depth + 1, most)),
  ];
}

function row(path: string, member: Schema, isRequired: boolean): readonly string[] {
  const given = member.default === undefined ? (isRequired ? '*required*' : '') : code(JSON.stringify(member.default));
  return [code(path), code(typeOf(member)), given, member.description ?? ''];
}

function typeOf(schema: Schema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives !== undefined) return [...new Set(alternatives.map(typeOf))].join(' | ');
  if (schema.type === 'array') return schema.items === undefined ? 'list' : `list of ${typeOf(schema.items)}`;
  if (schema.type === 'object') return mapOrObject(schema);
  if (schema.type === 'integer' || schema.type === 'number') return `${schema.type}${range(schema)}`;
  if (schema.type === undefined) return 'any';
  return typeof schema.type === 'string' ? schema.type : schema.type.join(' | ');
}

function mapOrObject({ properties, additionalProperties }: Schema): string {
  if (properties !== undefined || typeof additionalProperties !== 'object') return 'object';
  return `map of ${typeOf(additionalProperties)}`;
}

/** Leaves out the bounds of safe integers, which zod gives every integer. */
function range({ minimum, maximum }: Schema): string {
  const low = minimum === undefined || minimum === Number.MIN_SAFE_INTEGER ? undefined : minimum;
  const high = maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum;
  if (low !== undefined && high !== undefined) return ` ${low}..${high}`;
  if (low !== undefined) return ` >= ${low}`;
  return high === undefined ? '' : ` <= ${high}`;
}

function distinct(rows: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const seen = new Set<string>();
  return rows.filter(([path = '']) => !seen.has(path) && seen.add(path));
}
