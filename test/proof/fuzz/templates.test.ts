import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { JsonValue } from '@toolmgr/core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { askGo, buildProgram, GO } from '../../plugins/composite/go-template/go-program.ts';
import { type Outcome, outcomeOf } from '../../plugins/composite/go-template/tables.ts';
import fc from '../../support/fast-check.ts';
import { proves } from '../../support/proves.ts';
import { effort, PROPERTY_MS } from './effort.ts';

const BUILD_MS = 300_000;
const PER_BATCH = 40;

interface Case {
  readonly template: string;
  readonly data: JsonValue;
}

// ---- data ----

const key = fc.constantFrom('a', 'b', 'c', 'l', 'm', 's', 'n');
const text = fc.constantFrom('', 'a', 'hello', '<b>&"\'', 'x y', 'é€', '12', '{"a":1}', '[1,2]', 'line\nend', '%d');
const number = fc.oneof(
  fc.constantFrom(0, 1, 2, 3, -1, 10, 2.5, -0.25, 1e6, 1e21, 1e-7, 123456789),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer({ min: -20, max: 20 }),
);
const { value: anyValue } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    text,
    number,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
}));
const data = fc.record({
  a: anyValue,
  b: number,
  c: fc.boolean(),
  l: fc.array(anyValue, { maxLength: 4 }),
  m: fc.dictionary(key, anyValue, { maxKeys: 4, noNullPrototype: true }),
  s: text,
  n: fc.constant(null),
});

// ---- templates ----

const literal = fc.constantFrom(
  '1',
  '0',
  '-3',
  '2.5',
  '10.0',
  '"a"',
  '"b c"',
  '`raw`',
  "'x'",
  'true',
  'false',
  '""',
  '1e3',
  '0x1f',
);
const path = fc
  .array(key, { minLength: 1, maxLength: 3 })
  .chain((keys) => fc.constantFrom(`.${keys.join('.')}`, `$.${keys.join('.')}`, '.', '$', '$v'));
const format = fc
  .array(
    fc.tuple(
      fc.constantFrom('', '-', '+', '0', ' ', '#'),
      fc.constantFrom('', '5', '12', '.2', '8.3', '.0'),
      fc.constantFrom('v', 'd', 's', 'q', 't', 'f', 'g', 'e', 'x', 'T', 'c', 'z', 'U', 'o'),
    ),
    { minLength: 1, maxLength: 3 },
  )
  .map((verbs) => JSON.stringify(verbs.map(([flag, width, verb]) => `%${flag}${width}${verb}`).join('|')));
const unary = fc.constantFrom(
  'len',
  'not',
  'json',
  'quote',
  'html',
  'js',
  'urlquery',
  'print',
  'fromJson',
  'index',
  'slice',
);
const binary = fc.constantFrom('eq', 'ne', 'lt', 'le', 'gt', 'ge', 'and', 'or', 'index', 'print', 'slice', 'println');

// words with mostly compatible types, so that most templates succeed
const texts = fc.constantFrom('$.s', '"b c"', '`raw`', '(print $.b)', '(json $.m)', '(quote $.s)');
const numbers = fc.constantFrom('1', '0', '10', '(len $.l)', '(len $.s)', "'x'", '-3');
const holders = fc.constantFrom('$.l', '$.m', '(fromJson `[1,2.5,{"a":null}]`)');
const anything = fc.oneof(
  texts,
  numbers,
  holders,
  fc.constantFrom('$.a', '$.b', '$.c', '$.n', '$v', '.', '$', 'true', '2.5'),
);
const fitting = fc.oneof(
  anything,
  fc.tuple(fc.constant('len'), fc.oneof(texts, holders)).map((words) => words.join(' ')),
  fc.tuple(fc.constantFrom('eq', 'ne', 'lt', 'le', 'gt', 'ge'), numbers, numbers).map((words) => words.join(' ')),
  fc.tuple(fc.constantFrom('eq', 'ne', 'lt', 'le', 'gt', 'ge'), texts, texts).map((words) => words.join(' ')),
  fc
    .tuple(fc.constantFrom('and', 'or', 'print', 'println', 'html'), anything, anything)
    .map((words) => words.join(' ')),
  fc
    .tuple(anything, fc.constantFrom('json', 'quote', 'html', 'js', 'urlquery', 'print', 'not'))
    .map((words) => words.join(' | ')),
  fc.tuple(fc.constant('index $.m'), texts).map((words) => words.join(' ')),
  fc.tuple(format, anything, anything).map((words) => `printf ${words.join(' ')}`),
  fc
    .tuple(texts, fc.constantFrom('slice', 'len', 'printf "%q %5s|"'))
    .map(([word, name]) => (name.startsWith('printf') ? `${name} ${word} ${word}` : `${name} ${word}`)),
  key.map((name) => `$.m.${name}`),
);

/** Values for loops: no numbers of the data, because they may be large. */
const loopable = fc.oneof(
  { arbitrary: holders, weight: 8 },
  fc.constantFrom('3', '0', '$.n', '$.s', '.l', '.m', '$.c'),
);

const { pipeline, nodes } = fc.letrec<{ operand: string; pipeline: string; node: string; nodes: string }>((tie) => ({
  operand: fc.oneof(
    { depthSize: 'small' },
    path,
    literal,
    path,
    tie('pipeline').map((inner) => `(${inner})`),
  ),
  pipeline: fc.oneof(
    { depthSize: 'small' },
    { arbitrary: fitting, weight: 40 },
    tie('operand'),
    fc.tuple(unary, tie('operand')).map((words) => words.join(' ')),
    fc.tuple(binary, tie('operand'), tie('operand')).map((words) => words.join(' ')),
    fc.tuple(tie('operand'), unary).map((words) => words.join(' | ')),
    fc.tuple(format, tie('operand'), tie('operand')).map((words) => `printf ${words.join(' ')}`),
    fc.tuple(tie('operand'), key).map(([operand, field]) => `(${operand}).${field}`),
  ),
  node: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(' text ', '\n', 'x', ' \t ', '{{/* note */}}', '{{- /* note */ -}}'),
    tie('pipeline').map((inner) => `{{${inner}}}`),
    tie('pipeline').map((inner) => `{{- ${inner} -}}`),
    tie('pipeline').map((inner) => `{{$v = ${inner}}}{{$v}}`),
    tie('pipeline').map((inner) => `{{$v := ${inner}}}`),
    fc
      .tuple(tie('pipeline'), tie('nodes'), tie('nodes'))
      .map(([p, yes, no]) => `{{if ${p}}}${yes}{{else}}${no}{{end}}`),
    fc
      .tuple(tie('pipeline'), tie('nodes'), tie('nodes'))
      .map(([p, yes, no]) => `{{with ${p}}}${yes}{{else}}${no}{{end}}`),
    fc.tuple(loopable, tie('nodes')).map(([p, body]) => `{{range ${p}}}${body}{{else}}none{{end}}`),
    fc.tuple(loopable, tie('nodes')).map(([p, body]) => `{{range $k, $v := ${p}}}{{$k}}${body}{{end}}`),
    fc.tuple(tie('operand'), tie('nodes')).map(([p, body]) => `{{range ${p}}}{{if .}}{{break}}{{end}}${body}{{end}}`),
    fc.tuple(tie('pipeline'), tie('nodes')).map(([p, body]) => `{{block "name" ${p}}}{{$v := .}}${body}{{end}}`),
  ),
  nodes: fc.array(tie('node'), { maxLength: 3 }).map((all) => all.join('')),
}));

const whole = fc
  .tuple(nodes, nodes, pipeline)
  .map(([first, second, last]) => `{{$v := .s}}${first}${second}{{${last}}}`);
const torn = fc
  .tuple(whole, fc.nat(), fc.nat({ max: 3 }), fc.constantFrom('', '{{', '}}', '.', '|', '"', ' ', '-', '(', 'end'))
  .map(([template, at, length, piece]) => {
    const from = at % (template.length + 1);
    return template.slice(0, from) + piece + template.slice(from + length);
  });

// ---- what may differ, and only that: docs/decisions/021 ----

const MIXED = /incompatible types for comparison: (u?int\d* and float64|float64 and u?int\d*)/;
/** Go takes bounds of `slice` from literals and functions only, though those of `index` from data as well. */
const BOUND_FROM_DATA = /error calling slice: cannot index slice\/array with type interface \{\}/;
const LEFT_OUT = /not supported|integer overflow|more than|maximum template depth/;

function mayDiffer(go: Outcome, ours: Outcome): boolean {
  if (BOUND_FROM_DATA.test(go.error ?? '')) return true;
  if (MIXED.test(go.error ?? '') || LEFT_OUT.test(ours.error ?? '')) return true;
  return (go.output ?? ours.output ?? '').includes('\ufffd');
}

function expectSame({ template, data: given }: Case, go: Outcome): void {
  const ours = outcomeOf(template, given);
  if (mayDiffer(go, ours)) return;
  const shown = { template, data: given };
  expect({ ...shown, output: ours.output, fails: ours.fails }).toEqual({
    ...shown,
    output: go.output,
    fails: go.fails,
  });
}

const fuzzed = proves.skipIf(GO === undefined, 'Go is not on this machine');

describe('templates compared with Go', () => {
  let program = '';
  beforeAll(() => {
    if (GO !== undefined) program = buildProgram();
  }, BUILD_MS);
  afterAll(() => {
    if (program !== '') rmSync(dirname(program), { recursive: true });
  });

  const expectBatch = (batch: readonly Case[]): void => {
    const answers = askGo(program, batch);
    for (const [index, one] of batch.entries()) expectSame(one, answers[index] ?? {});
  };

  fuzzed(
    'choice.templates.like-go',
    'give the output of Go, and fail when Go fails',
    () => {
      const batch = fc.array(fc.record({ template: whole, data }), { minLength: 1, maxLength: PER_BATCH, size: 'max' });
      fc.assert(fc.property(batch, expectBatch), effort(40));
    },
    PROPERTY_MS,
  );

  fuzzed(
    'choice.templates.like-go',
    'handle incomplete templates like Go',
    () => {
      const batch = fc.array(fc.record({ template: torn, data }), { minLength: 1, maxLength: PER_BATCH, size: 'max' });
      fc.assert(fc.property(batch, expectBatch), effort(40));
    },
    PROPERTY_MS,
  );
});
