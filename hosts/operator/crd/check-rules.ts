import { isObject, type JsonValue } from '@toolmgr/core';
import { compileRule } from '@toolmgr/plugins/kit/cel';
import { join } from './check-value.ts';
import type { ManifestProblem } from './manifest-problem.ts';
import type { Structural } from './structural.ts';

/** Problems of the rules between fields, for a value that the schema accepts and that has its defaults. */
export function checkRules(schema: Structural, value: unknown, path: string): readonly ManifestProblem[] {
  const { properties = {}, items, additionalProperties, 'x-kubernetes-validations': rules = [] } = schema;
  const own = rules
    .filter(({ rule }) => !compiled(rule)(value as JsonValue))
    .map(({ message, fieldPath = '' }) => ({ path: `${path}${fieldPath}`, message }));
  if (Array.isArray(value)) {
    const inItems = items === undefined ? [] : value.flatMap((item, at) => checkRules(items, item, `${path}[${at}]`));
    return [...own, ...inItems];
  }
  if (!isObject(value)) return own;
  const inMembers = Object.entries(value).flatMap(([key, member]) => {
    if (Object.hasOwn(properties, key)) return checkRules(properties[key] ?? {}, member, join(path, key));
    return additionalProperties === undefined ? [] : checkRules(additionalProperties, member, `${path}[${key}]`);
  });
  return [...own, ...inMembers];
}

const COMPILED = new Map<string, (self: JsonValue) => boolean>();

function compiled(rule: string): (self: JsonValue) => boolean {
  const known = COMPILED.get(rule) ?? compileRule(rule);
  COMPILED.set(rule, known);
  return known;
}
