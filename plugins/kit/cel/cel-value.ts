import type { JsonValue } from '@toolmgr/core';

/** A JSON value for CEL expressions: whole numbers are CEL integers, objects are maps without inherited members. */
export function celValue(value: JsonValue): unknown {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(celValue);
  if (typeof value !== 'object' || value === null) return value;
  return new Map(Object.entries(value).map(([key, each]) => [key, celValue(each as JsonValue)]));
}
