import { createHash } from 'node:crypto';
import { isObject } from '@toolmgr/core';

/** sha256 (hex) of a JSON value. The order of keys does not matter. */
export function hashOf(value: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted(value)))
    .digest('hex');
}

/** The value with the keys of all objects sorted and without undefined members. */
export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const keys = Object.keys(value).sort();
  const members = keys.filter((key) => value[key] !== undefined).map((key) => [key, sorted(value[key])]);
  return Object.fromEntries(members);
}
