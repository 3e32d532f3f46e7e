import { z } from 'zod';
import { fieldPath } from './field-path.ts';
import { nearest } from './nearest.ts';

/**
 * One sentence per zod issue: `where.path: what is wrong, did you mean X?`.
 *
 * For an unknown key it suggests the nearest key that the schema has at that place. Values are not repeated: they may
 * be secret.
 */
export function explainIssues(where: string, schema: z.ZodType, error: z.ZodError): string[] {
  // a third-party plugin may use another parser, whose errors have no issues
  if (!Array.isArray(error?.issues)) return [`${where}: ${error instanceof Error ? error.message : 'is invalid'}`];
  return error.issues.flatMap((issue) => explainIssue(where, schema, issue));
}

function explainIssue(where: string, schema: z.ZodType, issue: z.core.$ZodIssue): string[] {
  const place = fieldPath(issue.path, where);
  const at = place === '' ? '' : `${place}: `;
  if (issue.code === 'unrecognized_keys') {
    const known = knownKeysAt(schema, issue.path);
    return issue.keys.map((key) => `${at}unknown key "${key}"${suggestion(key, known)}`);
  }
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const closest = [...issue.errors].sort((a, b) => a.length - b.length)[0] ?? [];
    return closest.flatMap((inner) => explainIssue(place, schema, inner));
  }
  if (issue.code === 'invalid_key') return issue.issues.map(({ message }) => `${at}${lowerFirst(message)}`);
  return [`${at}${lowerFirst(issue.message)}`];
}

function suggestion(key: string, known: readonly string[]): string {
  const hint = nearest(key, known);
  if (hint !== undefined) return `, did you mean "${hint}"?`;
  return known.length === 0 ? '' : ` (known: ${known.join(', ')})`;
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/** Keys that the schema allows at a path; those of all alternatives of a union. */
function knownKeysAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  let at: z.core.$ZodType[] = [schema];
  for (const part of path) at = at.flatMap((inner) => step(unwrap(inner), part));
  const keys = at
    .flatMap((inner) => unwrap(inner))
    .flatMap((inner) => (inner instanceof z.ZodObject ? Object.keys(inner.shape) : []));
  return [...new Set(keys)];
}

function step(schemas: z.core.$ZodType[], part: PropertyKey): z.core.$ZodType[] {
  return schemas.flatMap((schema) => {
    if (schema instanceof z.ZodObject) {
      const member = schema.shape[String(part)];
      return member === undefined ? [] : [member as z.core.$ZodType];
    }
    if (schema instanceof z.ZodArray) return [schema.element as z.core.$ZodType];
    if (schema instanceof z.ZodRecord) return [schema.valueType as z.core.$ZodType];
    return [];
  });
}

/** Resolves defaults, optionals, pipes and unions to the schemas inside. */
function unwrap(schema: z.core.$ZodType): z.core.$ZodType[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return unwrap(schema.unwrap() as z.core.$ZodType);
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault)
    return unwrap(schema.unwrap() as z.core.$ZodType);
  if (schema instanceof z.ZodPipe) return unwrap(schema.in as z.core.$ZodType);
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => unwrap(option as z.core.$ZodType));
  return [schema];
}
