import { createHash } from 'node:crypto';
import { isObject, type JsonObject, type JsonValue } from '@toolmgr/core';

/** What a pin covers: everything that a model or a program reads about a tool. */
const MEMBERS = ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations'] as const;

/** Form of a pin: `sha256/v1:` and 64 hexadecimal digits. */
export const PIN = /^sha256\/v1:[0-9a-f]{64}$/;

/** Hash of a tool's definition. The order of the members of objects does not matter. */
export function pinOf(tool: JsonObject): string {
  const covered = Object.fromEntries(MEMBERS.flatMap((name) => (tool[name] === undefined ? [] : [[name, tool[name]]])));
  const text = JSON.stringify(sorted(covered as JsonObject));
  return `sha256/v1:${createHash('sha256').update(text).digest('hex')}`;
}

function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(members.map(([name, one]) => [name, sorted(one as JsonValue)])) as JsonObject;
}
