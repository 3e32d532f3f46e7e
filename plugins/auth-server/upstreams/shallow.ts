import type { JsonValue } from '@toolmgr/core';

const MAX_DEPTH = 32;

/** Whether a value from a provider is nested at most 32 levels deep; deeper ones overflow the stack when they are copied. */
export function isShallow(value: JsonValue | undefined, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth < MAX_DEPTH && Object.values(value).every((each) => isShallow(each as JsonValue, depth + 1));
}
