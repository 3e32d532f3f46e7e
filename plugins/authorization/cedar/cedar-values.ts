import type { CedarValueJson } from '@cedar-policy/cedar-wasm/nodejs';
import { isObject, type JsonValue } from '@toolmgr/core';

/** A value that Cedar cannot represent: too large, too precise, not Unicode, or with a reserved member name. */
export const UNREADABLE = Symbol('unreadable');

/** A Cedar value; `undefined` for an absent one. */
export type Converted = CedarValueJson | undefined | typeof UNREADABLE;

/** Records and sets nested deeper are omitted. Source: the entity model of the contract's reference. */
const MAX_DEPTH = 10;
/** Longer texts would take too long to evaluate. In UTF-16 code units. */
const MAX_TEXT = 65_536;

/**
 * Converts a decoded JSON value.
 *
 * Shape: booleans and strings stay; whole numbers become Long, fractions of up to four digits decimal; arrays sets,
 * objects records; null is absent. Nothing is rounded or cut: a value that cannot be represented makes the whole value UNREADABLE.
 */
export function cedarValue(value: JsonValue | undefined, depth = 1): Converted {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'boolean') return value;
  if (typeof value === 'string') return value.length <= MAX_TEXT && value.isWellFormed() ? value : UNREADABLE;
  if (typeof value === 'number') return cedarNumber(value);
  if (depth > MAX_DEPTH) return undefined;
  return isObject(value) ? cedarRecord(value, depth) : cedarSet(value as readonly JsonValue[], depth);
}

/** Integers beyond 2^53 are refused, because the JSON decoder has rounded them. */
function cedarNumber(value: number): Converted {
  if (Number.isInteger(value)) return Number.isSafeInteger(value) ? value + 0 : UNREADABLE;
  const text = value.toFixed(DECIMALS);
  if (Number(text) !== value || Math.abs(value) >= MAX_DECIMAL) return UNREADABLE;
  return { __extn: { fn: 'decimal', arg: text } };
}

const DECIMALS = 4; // of Cedar's decimal
const MAX_DECIMAL = 922_337_203_685_477;

function cedarSet(elements: readonly JsonValue[], depth: number): Converted {
  const set: CedarValueJson[] = [];
  for (const element of elements) {
    const converted = cedarValue(element, depth + 1);
    if (converted === UNREADABLE) return UNREADABLE;
    if (converted !== undefined) set.push(converted);
  }
  return set;
}

function cedarRecord(object: Readonly<Record<string, JsonValue | undefined>>, depth: number): Converted {
  const members: [string, CedarValueJson][] = [];
  for (const [name, value] of Object.entries(object)) {
    // Cedar reads these names as an entity or a function call
    if (ESCAPES.has(name) || !name.isWellFormed()) return UNREADABLE;
    const converted = cedarValue(value, depth + 1);
    if (converted === UNREADABLE) return UNREADABLE;
    if (converted !== undefined) members.push([name, converted]);
  }
  return Object.fromEntries(members);
}

const ESCAPES: ReadonlySet<string> = new Set(['__entity', '__extn', '__expr']);
