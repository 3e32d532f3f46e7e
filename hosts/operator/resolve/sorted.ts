import { isObject } from '@toolmgr/core';

/** The value with the keys of all objects sorted and without undefined members. */
export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const keys = Object.keys(value).sort();
  const members = keys.filter((key) => value[key] !== undefined).map((key) => [key, sorted(value[key])]);
  return Object.fromEntries(members);
}
