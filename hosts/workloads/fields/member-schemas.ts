import { runConfig } from '@toolmgr/plugins/kit/workloads';
import { z } from 'zod';
import { text } from './body-values.ts';
import { FIELDS, SECTIONS } from './fields.ts';
import type { BodyMember, RunOption, WorkloadField } from './run-option.ts';

/** A field that the HTTP API has. */
export type ApiField = WorkloadField & Partial<Pick<RunOption, 'flags'>> & { readonly body: BodyMember };

/** Those of {@link FIELDS}. */
export const API_FIELDS: readonly ApiField[] = FIELDS.filter((field): field is ApiField => field.body !== undefined);

/** The section of a member, empty for none, and its name there: `oidc.issuer` is `oidc` and `issuer`. */
export function placeOf(path: string): readonly [section: string, name: string] {
  const dot = path.indexOf('.');
  return [path.slice(0, Math.max(dot, 0)), path.slice(dot + 1)];
}

/** Schemas of members by their names, those of a section in an object. */
export function memberSchemas(
  schemaOf: (field: ApiField) => z.ZodType,
  ofSection: (schema: z.ZodType, name: string) => z.ZodType,
) {
  const found: Record<string, Record<string, z.ZodType>> = {};
  const members: Record<string, z.ZodType> = {};
  for (const field of API_FIELDS) {
    const [section, name] = placeOf(field.body.name);
    if (section === '') members[name] = schemaOf(field);
    else {
      found[section] = { ...found[section], [name]: schemaOf(field) };
      members[section] = ofSection(z.strictObject(found[section]), section);
    }
  }
  return members;
}

/** What bodies accept: each member may be absent. */
export function acceptedMembers(): Record<string, z.ZodType> {
  return memberSchemas(
    (field) =>
      (field.body.accepts ?? kindOf(field).accepts).optional().describe(field.body.says ?? field.description ?? ''),
    (schema, name) => schema.optional().describe(SECTIONS[name] ?? ''),
  );
}

/** What details have: all members. */
export function shownMembers(): Record<string, z.ZodType> {
  return memberSchemas(
    (field) => {
      if (field.body.shows !== undefined) return field.body.shows;
      const { shows } = kindOf(field);
      return field.hidden === undefined ? shows : shows.describe('values that may be secret are hidden');
    },
    (schema) => schema,
  );
}

/** What a member has in details when its field is not set. */
export function emptyValue(field: ApiField): unknown {
  return field.body.empty ?? (isReference(field) ? undefined : kindOf(field).empty);
}

/** A secret that is shown with its target. */
export function isReference({ as, body }: ApiField): boolean {
  return as === 'secret' && body.shows instanceof z.ZodOptional;
}

interface Kind {
  readonly accepts: z.ZodType;
  readonly shows: z.ZodType;
  readonly empty: unknown;
}

const texts = z.array(text).max(1_024);
const textMap = z.record(z.string().min(1).max(256), z.string().max(65_536));

/** What the API has for the types of fields. */
const KINDS: Readonly<Record<string, Kind>> = {
  string: { accepts: text, shows: z.string(), empty: '' },
  enum: { accepts: text, shows: z.string(), empty: '' },
  array: { accepts: texts, shows: z.array(z.string()), empty: [] },
  record: { accepts: textMap, shows: z.record(z.string(), z.string()), empty: {} },
  number: { accepts: z.int().min(0), shows: z.int(), empty: 0 },
  boolean: { accepts: z.boolean(), shows: z.boolean(), empty: false },
};

function kindOf({ stored = 'name' }: ApiField): Kind {
  const schema = schemaAt(stored);
  const kind = KINDS[schema.def.type] ?? { accepts: schema, shows: schema, empty: {} };
  return schema instanceof z.ZodEnum ? { ...kind, accepts: z.enum(['', ...(schema.options as string[])]) } : kind;
}

function schemaAt(stored: string): z.ZodType {
  return stored
    .split('.')
    .reduce<z.ZodType>((schema, name) => bare((schema as z.ZodObject).shape[name] as z.ZodType), runConfig);
}

/** A schema without its default. */
function bare(schema: z.ZodType): z.ZodType {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodDefault
    ? bare(schema.unwrap() as z.ZodType)
    : schema;
}
