import type { JsonObject, JsonValue } from '@toolmgr/core';
import { shortestFloat } from './format-number.ts';
import { type Budget, MAX_DATA_DEPTH, spend, spendText } from './limits.ts';
import { LimitError } from './template-error.ts';
import { floatOf, integerOf, itemOf, type Kind, keysOf, kindOf, memberOf, type Value } from './value.ts';

/** The output of an action: like `print`, and `<no value>` for no value. @throws LimitError */
export function printed(value: Value, budget: Budget): string {
  return value === undefined || value === null ? '<no value>' : plainText(value, budget);
}

/** A value as Go's `%v`, e.g. `map[a:1 b:[x <nil>]]`. @throws LimitError */
export function plainText(value: Value, budget: Budget): string {
  return nestedText(value, budget, PLAIN);
}

/** The texts of values, with a space between two operands when neither is a string, as Go's `print`. @throws LimitError */
export function joinedText(values: readonly Value[], budget: Budget): string {
  const pieces: string[] = [];
  for (const [index, value] of values.entries()) {
    const isText = typeof value === 'string' || typeof values[index - 1] === 'string';
    if (index > 0 && !isText) pieces.push(' ');
    pieces.push(plainText(value, budget));
  }
  return joined(pieces, budget);
}

/** Kinds of values without nested values. */
export type LeafKind = Exclude<Kind, 'list' | 'map'>;

/** The punctuation of lists and maps, and the format of leaves; keys are leaves too. */
export interface Notation {
  readonly list: readonly [open: string, close: string];
  readonly map: readonly [open: string, close: string];
  readonly between: string;
  leaf(value: Value, kind: LeafKind): string;
}

const LEAVES = {
  none: () => '<nil>',
  bool: String,
  int: (value) => integerOf(value).toString(),
  float: (value) => shortestFloat(floatOf(value)),
  string: (value) => value as string,
} as const satisfies Record<LeafKind, (value: Value) => string>;

const PLAIN: Notation = {
  list: ['[', ']'],
  map: ['map[', ']'],
  between: ' ',
  leaf: (value, kind) => LEAVES[kind](value),
};

/** A value with its nested values in a notation; members sorted by name. @throws LimitError */
export function nestedText(value: Value, budget: Budget, notation: Notation): string {
  const pieces: string[] = [];
  writeNested(value, budget, notation, pieces, 0);
  return joined(pieces, budget);
}

function writeNested(value: Value, budget: Budget, notation: Notation, pieces: string[], depth: number): void {
  if (depth > MAX_DATA_DEPTH) throw new LimitError(`data deeper than ${MAX_DATA_DEPTH} levels`);
  spend(budget);
  const kind = kindOf(value);
  if (kind === 'list') {
    writeList(value as readonly JsonValue[], budget, notation, pieces, depth);
  } else if (kind === 'map') {
    writeMap(value as JsonObject, budget, notation, pieces, depth);
  } else {
    const text = notation.leaf(value, kind);
    spendText(budget, text.length);
    pieces.push(text);
  }
}

function writeList(
  list: readonly JsonValue[],
  budget: Budget,
  notation: Notation,
  pieces: string[],
  depth: number,
): void {
  pieces.push(notation.list[0]);
  for (let at = 0; at < list.length; at++) {
    if (at > 0) pieces.push(notation.between);
    writeNested(itemOf(list, at), budget, notation, pieces, depth + 1);
  }
  pieces.push(notation.list[1]);
}

function writeMap(map: JsonObject, budget: Budget, notation: Notation, pieces: string[], depth: number): void {
  pieces.push(notation.map[0]);
  for (const [at, key] of keysOf(map, budget).entries()) {
    if (at > 0) pieces.push(notation.between);
    pieces.push(notation.leaf(key, 'string'), ':');
    writeNested(memberOf(map, key), budget, notation, pieces, depth + 1);
  }
  pieces.push(notation.map[1]);
}

function joined(pieces: readonly string[], budget: Budget): string {
  spendText(
    budget,
    pieces.reduce((sum, piece) => sum + piece.length, 0),
  );
  return pieces.join('');
}
