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
  const names = [...new Set([...Object.keys(after), ...Object.keys(before)])];
  return names.filter((name) => !isEqual(memberOf(before, name), memberOf(after, name)));
}

/** What differs, by the paths of objects; lists and values as a whole. */
export function differences(before: JsonObject, after: JsonObject, path = ''): readonly Difference[] {
  return changedMembers(before, after).flatMap((name): readonly Difference[] => {
    const [was, is] = [memberOf(before, name), memberOf(after, name)];
    const inner = path === '' ? name : `${path}.${name}`;
    return isObject(was) && isObject(is) ? differences(was, is, inner) : [{ path: inner, before: was, after: is }];
  });
}

/** Backends choose the names: `constructor` is no member of every object. */
function memberOf(value: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

function isEqual(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return canonicalJson(a) === canonicalJson(b);
}
