import { Buffer } from 'node:buffer';
import type { JsonObject, JsonValue } from '@toolmgr/core';
import { type Budget, spend } from './limits.ts';
import { ArgumentError } from './template-error.ts';

/** A float64 literal of the template, e.g. `10.0`, which is not an integer to Go. */
export class Float {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/** A Go uint8: one byte of a string, the result of `index`. */
export class Byte {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/**
 * A value during rendering.
 *
 * Shape: `undefined` is no value at all, `null` a nil in the data; `bigint` is a Go int (literals, lengths);
 * a `number` comes from data and is an int64 when integral with an absolute value below 2^63, else a float64.
 */
export type Value = undefined | JsonValue | bigint | Float | Byte;

/** Kinds of values that behave alike. */
export type Kind = 'none' | 'bool' | 'int' | 'float' | 'string' | 'list' | 'map';

const TWO_63 = 2 ** 63;

/** The kind of a value. @throws ArgumentError for a value that is not JSON, e.g. a function */
export function kindOf(value: Value): Kind {
  if (value === undefined || value === null) return 'none';
  if (typeof value === 'object') return kindOfObject(value);
  if (typeof value === 'number') return isIntegral(value) ? 'int' : 'float';
  const kind = KINDS[typeof value];
  if (kind === undefined) throw new ArgumentError(`data of type ${typeof value}, expected JSON`);
  return kind;
}

const KINDS: Readonly<Record<string, Kind>> = { boolean: 'bool', string: 'string', bigint: 'int' };

function kindOfObject(value: object): Kind {
  if (Array.isArray(value)) return 'list';
  if (value instanceof Float) return 'float';
  return value instanceof Byte ? 'int' : 'map';
}

/** Whether a number of the data counts as an integer. */
export function isIntegral(value: number): boolean {
  return Number.isInteger(value) && Math.abs(value) < TWO_63;
}

/** The integer of a value of kind `int`. */
export function integerOf(value: Value): bigint {
  if (value instanceof Byte) return BigInt(value.value);
  return typeof value === 'bigint' ? value : BigInt(value as number);
}

/** The number of a value of kind `float`. */
export function floatOf(value: Value): number {
  return value instanceof Float ? value.value : (value as number);
}

/** The name of a value's type in Go, e.g. `map[string]interface {}`. */
export function typeName(value: Value): string {
  if (typeof value === 'bigint') return 'int';
  if (value instanceof Byte) return 'uint8';
  return TYPE_NAMES[kindOf(value)];
}

const TYPE_NAMES = {
  none: '<nil>',
  bool: 'bool',
  int: 'int64',
  float: 'float64',
  string: 'string',
  list: '[]interface {}',
  map: 'map[string]interface {}',
} as const satisfies Record<Kind, string>;

/** Whether a value counts as true: not nil, false, zero or empty. @throws LimitError */
export function truth(value: Value, budget: Budget): boolean {
  return TRUTHS[kindOf(value)](value, budget);
}

const TRUTHS = {
  none: () => false,
  bool: (value) => value === true,
  int: (value) => integerOf(value) !== 0n,
  float: (value) => floatOf(value) !== 0,
  string: (value) => value !== '',
  list: (value) => (value as readonly JsonValue[]).length > 0,
  map: (value, budget) => sizeOf(value as JsonObject, budget) > 0,
} as const satisfies Record<Kind, (value: Value, budget: Budget) => boolean>;

/**
 * One own member of an object, never of a prototype and never through a getter.
 *
 * Shape: `undefined` when there is none. @throws ArgumentError for a getter: data is JSON.
 */
export function memberOf(map: JsonObject, key: string): JsonValue | undefined {
  const found = Object.getOwnPropertyDescriptor(map, key);
  if (found === undefined || found.enumerable !== true) return undefined;
  if (!('value' in found)) throw new ArgumentError(`member ${key} is computed, expected JSON`);
  return found.value as JsonValue | undefined;
}

/** The names of an object's members, sorted by bytes as in Go. @throws LimitError */
export function keysOf(map: JsonObject, budget: Budget): readonly string[] {
  return namesOf(map, budget).sort(compareText);
}

/** The number of members of an object. @throws LimitError */
export function sizeOf(map: JsonObject, budget: Budget): number {
  return namesOf(map, budget).length;
}

function namesOf(map: JsonObject, budget: Budget): string[] {
  const names = Object.keys(map);
  spend(budget, names.length);
  return names.filter((name) => memberOf(map, name) !== undefined);
}

/** One item of a list; `null` for a hole. */
export function itemOf(list: readonly JsonValue[], index: number): JsonValue {
  const found = Object.getOwnPropertyDescriptor(list, index);
  if (found === undefined) return null;
  if (!('value' in found)) throw new ArgumentError(`item ${index} is computed, expected JSON`);
  return (found.value as JsonValue | undefined) ?? null;
}

/** Compares by the bytes of UTF-8 as Go does, which is the order of code points. */
export function compareText(a: string, b: string): number {
  const end = Math.min(a.length, b.length);
  for (let at = 0; at < end; at++) {
    const [left, right] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (left === right) continue;
    const bothHigh = left >= 0xd800 && right >= 0xd800;
    // surrogates encode code points above U+FFFF, so they sort after U+E000 to U+FFFF
    return bothHigh ? rank(left) - rank(right) : left - right;
  }
  return a.length - b.length;
}

function rank(unit: number): number {
  return unit <= 0xdfff ? unit + 0x2000 : unit - 0x800;
}

/** The bytes of a text in UTF-8; Go counts, indexes and slices in bytes. */
export function bytesOf(text: string): Buffer {
  return Buffer.from(text, 'utf8');
}
