import { createHash } from 'node:crypto';
import { isObject } from '@toolmgr/core';

/** sha256 (hex) of JSON values; the order of keys does not matter, keys with `undefined` count as absent. */
export function contentHash(value: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(value, sortKeys) ?? '')
    .digest('hex');
}

function sortKeys(_key: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
