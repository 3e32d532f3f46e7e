import type { JsonValue } from '../contract/json.ts';
import type { RawObject } from './raw-json.ts';

/**
 * Whether an object anywhere in `raw` names a member twice. `value` is the same JSON decoded.
 *
 * The decoder keeps the last of two equal names; a backend that gets the bytes may keep the first. What one reads and
 * another sends on must not differ. The reader counted every member it passed, so more of them than keys means a name
 * that was lost.
 * Source: RFC 8259 §4 (behaviour of equal names is unpredictable).
 */
export function hasRepeatedMembers(raw: RawObject, value: JsonValue): boolean {
  return raw.deepSize !== membersOf(value);
}

/** Recursion is safe: the depth of what was decoded is bounded (MAX_JSON_DEPTH). */
function membersOf(value: JsonValue | undefined): number {
  if (typeof value !== 'object' || value === null) return 0;
  let members = 0;
  if (Array.isArray(value)) {
    for (const element of value as readonly JsonValue[]) members += membersOf(element);
    return members;
  }
  for (const key in value) members += 1 + membersOf((value as Readonly<Record<string, JsonValue>>)[key]);
  return members;
}
