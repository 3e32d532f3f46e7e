import { Buffer } from 'node:buffer';
import type { JsonObject, JsonValue } from '@toolmgr/core';
import { type Budget, spend, spendText } from './limits.ts';
import { ArgumentError } from './template-error.ts';
import { ANY_NUMBER, type TemplateFunction } from './template-function.ts';
import { Byte, bytesOf, integerOf, itemOf, kindOf, memberOf, sizeOf, typeName, type Value } from './value.ts';

/** `index`, `slice`, `len` and `call`. Texts are indexed in bytes of UTF-8, as in Go. */
export const indexFunctions = {
  index: { arity: [1, ANY_NUMBER], takes: 'any', run: index },
  slice: { arity: [1, ANY_NUMBER], takes: 'any', run: slice },
  len: { arity: [1, 1], takes: 'any', run: length },
  call: {
    arity: [1, ANY_NUMBER],
    takes: 'any',
    run: ([value]) => {
      if (value === undefined || value === null) throw new ArgumentError('call of nil');
      throw new ArgumentError(`non-function of type ${typeName(value)}: data holds no functions`);
    },
  },
} as const satisfies Record<string, TemplateFunction>;

function index([value, ...places]: readonly Value[], budget: Budget): Value {
  if (value === undefined || value === null) throw new ArgumentError('index of untyped nil');
  let found: Value = value;
  for (const place of places) {
    if (found === undefined || found === null) throw new ArgumentError('index of nil pointer');
    found = indexed(found, place, budget);
  }
  return found;
}

function indexed(value: Value, place: Value, budget: Budget): Value {
  const kind = kindOf(value);
  if (kind === 'map') return memberOf(value as JsonObject, keyFrom(place)) ?? null;
  if (kind === 'list') {
    const list = value as readonly JsonValue[];
    return itemOf(list, placeFrom(place, list.length - 1));
  }
  if (kind !== 'string') throw new ArgumentError(`can't index item of type ${typeName(value)}`);
  spendText(budget, (value as string).length);
  const bytes = bytesOf(value as string);
  return new Byte(bytes[placeFrom(place, bytes.length - 1)] ?? 0);
}

function keyFrom(place: Value): string {
  if (typeof place === 'string') return place;
  if (place === undefined || place === null) throw new ArgumentError('value is nil; should be of type string');
  throw new ArgumentError(`value has type ${typeName(place)}; should be string`);
}

function placeFrom(place: Value, last: number): number {
  if (place === undefined || place === null) throw new ArgumentError('cannot index slice/array with nil');
  if (kindOf(place) !== 'int') throw new ArgumentError(`cannot index slice/array with type ${typeName(place)}`);
  const wanted = integerOf(place);
  if (wanted < 0n || wanted > last) throw new ArgumentError(`index out of range: ${wanted}`);
  return Number(wanted);
}

function slice([value, ...places]: readonly Value[], budget: Budget): Value {
  if (value === undefined || value === null) throw new ArgumentError('slice of untyped nil');
  if (places.length > 3) throw new ArgumentError(`too many slice indexes: ${places.length}`);
  const kind = kindOf(value);
  if (kind === 'string') return sliceText(value as string, places, budget);
  if (kind !== 'list') throw new ArgumentError(`can't slice item of type ${typeName(value)}`);
  const list = value as readonly JsonValue[];
  const { from, to } = rangeFrom(places, list.length);
  spend(budget, to - from);
  return Array.from({ length: to - from }, (_, at) => itemOf(list, from + at));
}

/** Slices by bytes. A character that is cut becomes U+FFFD: our texts are Unicode, Go's are bytes. */
function sliceText(text: string, places: readonly Value[], budget: Budget): string {
  if (places.length === 3) throw new ArgumentError('cannot 3-index slice a string');
  spendText(budget, text.length);
  const bytes = bytesOf(text);
  const { from, to } = rangeFrom(places, bytes.length);
  return bytes.toString('utf8', from, to);
}

function rangeFrom(places: readonly Value[], length: number): { readonly from: number; readonly to: number } {
  const [from = 0, to = length, capacity = length] = places.map((place) => placeFrom(place, length));
  if (from > to) throw new ArgumentError(`invalid slice index: ${from} > ${to}`);
  if (to > capacity) throw new ArgumentError(`invalid slice index: ${to} > ${capacity}`);
  return { from, to };
}

function length([value]: readonly Value[], budget: Budget): Value {
  const kind = kindOf(value);
  if (kind === 'none') throw new ArgumentError('len of nil pointer');
  if (kind === 'list') return BigInt((value as readonly JsonValue[]).length);
  if (kind === 'map') return BigInt(sizeOf(value as JsonObject, budget));
  if (kind !== 'string') throw new ArgumentError(`len of type ${typeName(value)}`);
  spendText(budget, (value as string).length);
  return BigInt(Buffer.byteLength(value as string));
}
