import type { JsonValue } from '@toolmgr/core';
import { type Budget, spendText } from './limits.ts';
import { type LeafKind, type Notation, nestedText, plainText } from './print-value.ts';
import { quoted } from './quote.ts';
import { ArgumentError } from './template-error.ts';
import type { TemplateFunction } from './template-function.ts';
import { floatOf, integerOf, type Value } from './value.ts';

/**
 * `json`, `quote` and `fromJson`.
 *
 * Shape: JSON as Go's encoding/json writes it: no spaces, members sorted by name, `<`, `>`, `&`, U+2028 and
 * U+2029 escaped. `quote` escapes as a Go string. Source: vmcp spec, functions of templates.
 */
export const jsonFunctions = {
  json: { arity: [1, 1], takes: 'any', run: ([value], budget) => nestedText(value, budget, JSON_NOTATION) },
  quote: {
    arity: [1, 1],
    takes: 'any',
    run: ([value], budget) => {
      const text = quoted(plainText(value, budget));
      spendText(budget, text.length);
      return text;
    },
  },
  fromJson: { arity: [1, 1], takes: 'first', run: ([text], budget) => parsed(text as string, budget) },
} as const satisfies Record<string, TemplateFunction>;

const LEAVES = {
  none: () => 'null',
  bool: String,
  int: (value) => integerOf(value).toString(),
  float: (value) => (Object.is(floatOf(value), -0) ? '-0' : JSON.stringify(floatOf(value))),
  string: (value) => stringText(value as string),
} as const satisfies Record<LeafKind, (value: Value) => string>;

const JSON_NOTATION: Notation = {
  list: ['[', ']'],
  map: ['{', '}'],
  between: ',',
  leaf: (value, kind) => LEAVES[kind](value),
};

function stringText(text: string): string {
  return JSON.stringify(text.toWellFormed()).replace(/[<>&\u2028\u2029]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

function parsed(text: string, budget: Budget): JsonValue {
  spendText(budget, text.length);
  try {
    return JSON.parse(text) as JsonValue;
  } catch (cause) {
    throw new ArgumentError('not valid JSON', { cause });
  }
}
