import { isObject, type JsonValue } from '@toolmgr/core';

/** The value at a path, or why there is none. */
export type AtPath = { readonly value: JsonValue } | { readonly problem: string };

/** Follows a path such as `items[0].name`, `$.a["b c"]`: names and indices, nothing else. */
export function valueAt(root: JsonValue, path: string): AtPath {
  let value = root;
  let at = ROOT.test(path) ? 1 : 0;
  while (at < path.length) {
    SEGMENT.lastIndex = at;
    const found = SEGMENT.exec(path);
    if (found === null)
      return { problem: `path is not understood at character ${at}: write names and indices, as in items[0].name` };
    const { name, index, quoted } = found.groups ?? {};
    const key = quoted === undefined ? name : (JSON.parse(quoted) as string);
    const next = index === undefined ? memberOf(value, key ?? '') : elementOf(value, Number(index));
    if (next === undefined) return { problem: `nothing is at ${path.slice(0, SEGMENT.lastIndex)}: ${kindOf(value)}` };
    value = next;
    at = SEGMENT.lastIndex;
  }
  return { value };
}

/** A `$` that is no part of a name. */
const ROOT = /^\$(?=[.[]|$)/;

/** Linear: each alternative begins with another character. */
const SEGMENT = /\[(?<index>\d{1,10})\]|\[(?<quoted>"(?:[^"\\\p{Cc}]|\\["\\/bfnrt])*")\]|\.?(?<name>[^.[\]"\s]+)/uy;

function memberOf(value: JsonValue, key: string): JsonValue | undefined {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function elementOf(value: JsonValue, index: number): JsonValue | undefined {
  return Array.isArray(value) ? (value as readonly JsonValue[])[index] : undefined;
}

function kindOf(value: JsonValue): string {
  if (Array.isArray(value)) return `the value before is an array of ${value.length}`;
  return isObject(value) ? 'the object before has no such member' : 'the value before has no members';
}
