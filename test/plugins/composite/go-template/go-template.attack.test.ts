import type { JsonValue } from '@toolmgr/core';
import { describe, expect } from 'vitest';
import { compileTemplate } from '../../../../plugins/composite/engine/go-template/compile.ts';
import { TemplateError } from '../../../../plugins/composite/engine/go-template/template-error.ts';
import { cpuClock } from '../../../support/cpu-clock.ts';
import { proves } from '../../../support/proves.ts';

/** Far more than each case needs, and far less than an unbounded one would take. */
const SOON_MS = 10_000;

describe('hostile templates and data', () => {
  for (const name of [
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'hasOwnProperty',
    '__defineGetter__',
    'length',
  ]) {
    proves('choice.templates.own-members', `cannot read an inherited ${name}`, () => {
      expect(rendered(`{{.${name}}}`, {})).toBe('<no value>');
      expect(rendered(`{{.${name}.${name}}}`, {})).toBe('<no value>');
      expect(rendered(`{{index . "${name}"}}`, {})).toBe('<no value>');
      expect(rendered(`{{range $k, $v := .}}{{$k}}{{end}}{{json .}}{{len .}}`, {})).toBe('{}0');
      for (const value of ['text', 1, true, [1]])
        expectError(`{{.v.${name}}}`, { v: value }, `can't evaluate field ${name}`);
      expect(() => compileTemplate(`{{${name} 1}}`)).toThrow(`function "${name}" not defined`);
      expect(() => compileTemplate(`{{$${name}}}`)).toThrow('undefined variable');
      expectError(`{{template "${name}"}}`, {}, `template "${name}" not defined`);
    });
  }

  proves('choice.templates.own-members', 'read own members with such names', () => {
    const data = JSON.parse('{"__proto__":{"a":1},"constructor":"own"}') as JsonValue;
    expect(rendered('{{.__proto__.a}} {{.constructor}} {{json .}}', data)).toBe(
      '1 own {"__proto__":{"a":1},"constructor":"own"}',
    );
    expect(rendered('{{(fromJson .s).__proto__.polluted}}', { s: '{"__proto__":{"polluted":1}}' })).toBe('1');
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  proves('choice.templates.own-members', 'never run a getter, a method or toJSON, and never read a prototype', () => {
    let calls = 0;
    const called = (): string => {
      calls += 1;
      return 'called';
    };
    const getter = Object.defineProperty({}, 'x', { get: called, enumerable: true }) as JsonValue;
    const list = Object.defineProperty([1], 0, { get: called, enumerable: true }) as JsonValue;
    const inherited = Object.create({ x: 'from the prototype' }) as JsonValue;
    const methods = { toString: called, toJSON: called, valueOf: called } as unknown as JsonValue;
    for (const text of ['{{.x}}', '{{json .}}', '{{.}}', '{{range .}}{{.}}{{end}}', '{{len .}}', '{{index . "x"}}']) {
      expectError(text, getter, 'expected JSON');
    }
    for (const text of ['{{index . 0}}', '{{range .}}{{.}}{{end}}', '{{json .}}', '{{slice .}}'])
      expectError(text, list, 'computed');
    expect(rendered('{{.x}}{{json .}}', inherited)).toBe('<no value>{}');
    for (const text of ['{{.}}', '{{json .}}', '{{.toString}}', '{{print .toString}}', '{{call .valueOf}}']) {
      expectError(text, methods, 'function');
    }
    expect(calls).toBe(0);
  });

  const endless: Record<string, readonly [text: string, data: JsonValue, says: string]> = {
    'a template that calls itself': [
      '{{define "a"}}{{template "a" .}}{{end}}{{template "a" .}}',
      {},
      'maximum template depth',
    ],
    'two templates that call each other': [
      '{{define "a"}}{{template "b"}}{{end}}{{define "b"}}{{if true}}{{template "a"}}{{end}}{{end}}{{template "a"}}',
      {},
      'maximum template depth',
    ],
    'the root template that calls itself': ['x{{template ""}}', {}, 'maximum template depth'],
    'templates that double': [doubling('x'), {}, 'more than'],
    'templates that double and print nothing': [doubling(''), {}, 'evaluation steps'],
    'a loop over a huge integer': ['{{range 9223372036854775807}}{{end}}', {}, 'loop iterations'],
    'a loop over a huge integer of the data': ['{{range .n}}x{{end}}', { n: 1e18 }, 'loop iterations'],
    'loops in loops': ['{{range 99999}}{{range 99999}}{{end}}{{end}}', {}, 'loop iterations'],
    'a text that doubles in size': ['{{$x := "ab"}}{{range 60}}{{$x = print $x $x}}{{end}}{{$x}}', {}, 'more than'],
    'a format that doubles in size': ['{{$x := "ab"}}{{range 60}}{{$x = printf "%s%s" $x $x}}{{end}}', {}, 'more than'],
    'escapes that grow': [
      '{{$x := "<\\"\'>"}}{{range 60}}{{$x = html $x | quote | js | json | quote}}{{end}}',
      {},
      'more than',
    ],
    'much output': [`{{range 90000}}${'y'.repeat(500)}{{end}}`, {}, 'bytes of output'],
    'wide paddings': [`{{printf "${'%900000s'.repeat(50)}" ${'"" '.repeat(50)}}}`, {}, 'more than'],
    'a wide padding for every item': [
      '{{printf "%900000v" .l}}',
      { l: Array.from({ length: 1000 }, () => 1) },
      'more than',
    ],
    'a precision for every item': [
      '{{printf "%.900000f" .l}}',
      { l: Array.from({ length: 1000 }, () => 0.1) },
      'more than',
    ],
    'long texts compared often': [
      '{{range 90000}}{{$z := eq $.a $.b}}{{end}}',
      { a: long('z'), b: long('z') },
      'evaluation steps',
    ],
    'long texts measured often': ['{{range 90000}}{{$z := len $.a}}{{end}}', { a: long('z') }, 'evaluation steps'],
    'long texts cut often': ['{{range 90000}}{{$z := index $.a 5}}{{end}}', { a: long('z') }, 'evaluation steps'],
    'large maps tested often': ['{{range 90000}}{{if $.m}}{{end}}{{end}}', { m: wide(20_000) }, 'evaluation steps'],
    'large maps sorted often': [
      '{{range 90000}}{{range $.m}}{{break}}{{end}}{{end}}',
      { m: wide(20_000) },
      'evaluation steps',
    ],
    'long JSON read often': [
      '{{range 90000}}{{$z := fromJson $.a}}{{end}}',
      { a: `[${'1,'.repeat(100_000)}1]` },
      'evaluation steps',
    ],
    'data nested deep, printed': ['{{.}}', deep(50_000), 'data deeper than'],
    'data nested deep, as JSON': ['{{json .}}', deep(50_000), 'data deeper than'],
    'JSON text nested deep': ['{{fromJson .s}}', { s: '['.repeat(50_000) + ']'.repeat(50_000) }, 'data deeper than'],
    'data that contain themselves': ['{{json .}}', circle(), 'data deeper than'],
  };
  for (const [name, [text, data, says]] of Object.entries(endless)) {
    proves('choice.templates.bounded', `end early with a clean error: ${name}`, () => {
      const usedMs = cpuClock();
      expectError(text, data, says);
      expect(usedMs()).toBeLessThan(SOON_MS);
    });
  }

  const large: Record<string, readonly [text: string, says: string | undefined]> = {
    'a text that is too long': ['x'.repeat(300_000), 'a template of more than 262144 characters'],
    parentheses: [`{{${'('.repeat(100_000)}1${')'.repeat(100_000)}}}`, 'levels of nesting'],
    blocks: ['{{if true}}'.repeat(20_000), 'levels of nesting'],
    loops: ['{{range 1}}'.repeat(500) + '{{end}}'.repeat(500), 'levels of nesting'],
    'else if': [`{{if false}}${'{{else if false}}'.repeat(10_000)}{{end}}`, undefined],
    'open actions': ['{{'.repeat(100_000), 'unclosed action'],
    'an action that is not closed': [`{{${' '.repeat(200_000)}`, 'unclosed action'],
    'a comment that is not closed': [`{{/*${'*'.repeat(200_000)}`, 'unclosed comment'],
    'a text that is not closed': [`{{"${'\\"'.repeat(100_000)}`, 'unterminated quoted string'],
    'a character that is not closed': [`{{'${'\\a'.repeat(100_000)}`, 'unterminated character constant'],
    'spaces to trim': [`${' \n'.repeat(100_000)}{{- "x" -}}${'\t '.repeat(20_000)}`, undefined],
    'trim markers': ['  {{- "" -}}  '.repeat(15_000), undefined],
    'almost trim markers': [`{{1${' -'.repeat(100_000)}}}`, ''],
    'a long number': [`{{${'9'.repeat(200_000)}}}`, 'integer overflow'],
    'a long hexadecimal number': [`{{0x${'f'.repeat(200_000)}}}`, 'integer overflow'],
    'a long float': [`{{0.${'9'.repeat(200_000)}}}`, undefined],
    underscores: [`{{1${'_'.repeat(200_000)}}}`, 'illegal number'],
    'a float without its exponent': [`{{${'0'.repeat(240_000)}e}}`, 'illegal number'],
    'a hexadecimal float without its exponent': [
      `{{0x${'f'.repeat(120_000)}.${'f'.repeat(120_000)}}}`,
      'illegal number',
    ],
    'a hexadecimal float': [`{{0x${'f'.repeat(100_000)}p-400000}}`, ''],
    'a long name': [`{{.${'a'.repeat(200_000)}}}`, undefined],
    'many fields': [`{{${'.a'.repeat(100_000)}}}`, undefined],
    'many pipes': [`{{1${'|print'.repeat(40_000)}}}`, undefined],
    'many arguments': [`{{print ${'1 '.repeat(100_000)}}}`, undefined],
    'many variables': [Array.from({ length: 15_000 }, (_, n) => `{{$v${n}:=1}}`).join(''), undefined],
    'many definitions': [Array.from({ length: 10_000 }, (_, n) => `{{define "${n}"}}x{{end}}`).join(''), undefined],
  };
  for (const [name, [text, says]] of Object.entries(large)) {
    proves('choice.templates.bounded', `compile or fail quickly: ${name}`, () => {
      const usedMs = cpuClock();
      const error = errorOf(() => {
        const compiled = compileTemplate(text);
        compiled.references();
        compiled.render({});
      });
      if (says === undefined) expect(error).toBeUndefined();
      else expect(error?.message).toContain(says);
      expect(usedMs()).toBeLessThan(SOON_MS);
    });
  }

  proves(
    'choice.templates.bounded',
    'list the references of complex templates quickly: all of them, or the whole data',
    () => {
      const steps = Array.from(
        { length: 25 },
        (_, n) => `{{define "t${n}"}}{{template "t${n + 1}" .a}}{{template "t${n + 1}" .b}}{{end}}`,
      );
      const tangled = `${steps.join('')}{{define "t25"}}{{.leaf}}{{end}}{{template "t0" .}}`;
      const looping = '{{$x := .}}{{range .l}}{{$x = $x.a}}{{$x = $x.b}}{{$x = $x.c}}{{$x.d}}{{end}}';
      const usedMs = cpuClock();
      expect(
        compileTemplate(tangled)
          .references()
          .some(({ path }) => path.length === 0),
      ).toBe(true);
      expect(compileTemplate(looping).references().length).toBeGreaterThan(3);
      expect(usedMs()).toBeLessThan(SOON_MS);
    },
  );

  proves('choice.templates.bounded', 'refuse an excessive width as Go does', () => {
    expect(rendered('{{printf "%1000000000d" 1}}', {})).toBe('%!(NOVERB)%!(EXTRA int=1)');
    expect(rendered('{{printf "%*d" 1000000000 1}}', {})).toBe('%!(BADWIDTH)1');
    expect(rendered('{{printf "%.*f" 1000000000 1.5}}', {})).toBe('%!(BADPREC)1.500000');
  });

  proves('choice.templates.bounded', 'do not affect the next rendering', () => {
    const compiled = compileTemplate('{{range .n}}{{end}}ok');
    for (let turn = 0; turn < 3; turn++) expect(errorOf(() => compiled.render({ n: 1e9 }))?.phase).toBe('limit');
    expect(compiled.render({ n: 90_000 })).toBe('ok');
    expect(compiled.render({ n: 90_000 })).toBe('ok');
  });
});

function doubling(leaf: string): string {
  const templates = Array.from(
    { length: 60 },
    (_, n) => `{{define "d${n}"}}{{template "d${n + 1}"}}{{template "d${n + 1}"}}{{end}}`,
  );
  return `${templates.join('')}{{define "d60"}}${leaf}{{end}}{{template "d0"}}`;
}

function long(character: string): string {
  return character.repeat(1_000_000);
}

function wide(members: number): JsonValue {
  return Object.fromEntries(Array.from({ length: members }, (_, n) => [`k${n}`, n]));
}

function deep(levels: number): JsonValue {
  let value: JsonValue = 1;
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { v: value };
  return value;
}

function circle(): JsonValue {
  const value: { self?: unknown[] } = {};
  value.self = [value, value];
  return value as JsonValue;
}

function rendered(text: string, data: JsonValue): string {
  return compileTemplate(text).render(data);
}

function expectError(text: string, data: JsonValue, says: string): void {
  const error = errorOf(() => rendered(text, data));
  expect(error?.message, text.slice(0, 100)).toContain(says);
  expect(error?.message.length).toBeLessThan(1000);
}

/** The TemplateError of a run, `undefined` when there is none; rethrows any other error. */
function errorOf(run: () => unknown): TemplateError | undefined {
  try {
    run();
  } catch (cause) {
    if (cause instanceof TemplateError) return cause;
    throw cause;
  }
  return undefined;
}
