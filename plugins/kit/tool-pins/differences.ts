import { isObject, type JsonObject, type JsonValue } from '@toolmgr/core';
import { canonicalJson } from './definition.ts';

/** One difference between two definitions. Absent values are `undefined`. */
export interface Difference {
  /** Path of members, e.g. `inputSchema.properties.path.type`. */
  readonly path: string;
  readonly before: JsonValue | undefined;
  readonly after: JsonValue | undefined;
}

/** Members at the top that differ, in the order of the new definition. */
export function changedMembers(before: JsonObject, after: JsonObject): readonly string[] {
  return namesOf(before, after).filter((name) => !isEqual(memberOf(before, name), memberOf(after, name)));
}

/** What differs, by the paths of objects; lists, values and what has a long path as a whole. Linear in the definitions. */
export function differences(before: JsonObject, after: JsonObject, path = ''): readonly Difference[] {
  return namesOf(before, after).flatMap((name): readonly Difference[] => {
    const [was, is] = [memberOf(before, name), memberOf(after, name)];
    const inner = path === '' ? name : `${path}.${name}`;
    if (isObject(was) && isObject(is) && inner.length <= MOST_OF_PATH) return differences(was, is, inner);
    return isEqual(was, is) ? [] : [{ path: inner, before: was, after: is }];
  });
}

/** Each difference repeats its path, whose names backends choose. */
const MOST_OF_PATH = 200;

function namesOf(before: JsonObject, after: JsonObject): readonly string[] {
  return [...new Set([...Object.keys(after), ...Object.keys(before)])];
}

/** Backends choose the names: `constructor` is no member of every object. */
function memberOf(value: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

function isEqual(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return canonicalJson(a) === canonicalJson(b);
}
