import { describe, expect } from 'vitest';
import { compileTemplate } from '../../../../plugins/composite/engine/go-template/compile.ts';
import { TemplateError } from '../../../../plugins/composite/engine/go-template/template-error.ts';
import type { TemplateFunction } from '../../../../plugins/composite/engine/go-template/template-function.ts';
import { proves } from '../../../support/proves.ts';

describe('a compiled template', () => {
  proves('choice.templates.like-go', 'renders many times, each with its own data and variables', () => {
    const template = compileTemplate('{{$n := 0}}{{range .l}}{{$n = .}}{{end}}{{$n}}');
    expect(template.text).toContain('range');
    expect([{ l: [1, 2] }, { l: [] }, { l: ['x'] }].map((data) => template.render(data))).toEqual(['2', '0', 'x']);
  });

  proves('choice.templates.places', 'reports the position of a syntax error and what was expected', () => {
    const wrong = {
      'a\n  {{ .b': '2:3: unclosed action, expected }}',
      '{{if .a}}x': '1:11: unexpected EOF, expected {{end}}',
      '{{.a}}\n{{range}}{{end}}': '2:8: missing value for range, expected a pipeline',
      '{{template x}}': '1:12: unexpected "x" in template clause, expected the name of a template in quotes',
      '{{ $x }}': '1:4: undefined variable "$x"',
    };
    for (const [text, says] of Object.entries(wrong)) expect(errorOf(() => compileTemplate(text)).message).toBe(says);
    expect(errorOf(() => compileTemplate('{{nope}}')).message).toMatch(
      /^1:3: function "nope" not defined, expected one of and, call, /,
    );
  });

  proves('choice.templates.places', 'reports where rendering failed', () => {
    const error = errorOf(() => compileTemplate('line one\n{{range .l}}{{.a.b}}{{end}}').render({ l: [{ a: null }] }));
    expect(error).toMatchObject({ phase: 'execution', line: 2, column: 15 });
    expect(error.message).toBe('2:15: nil pointer evaluating interface {}.b');
    const inside = errorOf(() => compileTemplate('{{if true}}\n {{len 3 | print}}{{end}}').render({}));
    expect(inside.message).toBe('2:4: error calling len: len of type int');
  });

  proves('choice.templates.like-go', 'accepts additional functions and checks the number of arguments', () => {
    const twice: TemplateFunction = { arity: [1, 1], takes: 'first', run: ([text]) => `${text}${text}` };
    const compiled = compileTemplate('{{twice .s | twice}}', { functions: { twice } });
    expect(compiled.render({ s: 'ab' })).toBe('abababab');
    expect(() => compiled.render({ s: 1 })).toThrow('expected string; got int64');
    expect(() => compileTemplate('{{twice}}', { functions: { twice } }).render({})).toThrow('want 1 got 0');
  });

  proves('choice.templates.left-out', 'names unsupported features in its errors', () => {
    const refused: Record<string, string> = {
      '{{1i}}': 'complex numbers are not supported',
      '{{printf "%p" .m}}': '%p is not supported',
      '{{printf "%x" 1.5}}': '%x of a float64 is not supported',
      '{{printf "%b" 1.5}}': '%b of a float64 is not supported',
      '{{printf "%#g" 1.5}}': '%#g of a float64 is not supported',
      '{{call .m}}': 'data holds no functions',
      '{{9223372036854775808}}': 'integer overflow',
    };
    for (const [text, says] of Object.entries(refused)) {
      expect(errorOf(() => compileTemplate(text).render({ m: {} })).message).toContain(says);
    }
  });
});

describe('the references of a template', () => {
  const cases: Record<string, readonly string[]> = {
    'no action': [],
    '{{.steps.x.output.f}}{{.steps.x.output.f}}': ['steps.x.output.f'],
    '{{index .steps "my-step" "output" "f"}}': ['steps.my-step.output.f'],
    '{{(index .steps "my-step").output.f}}': ['steps.my-step.output.f'],
    '{{index .steps .params.which "output"}}': ['params.which', 'steps'],
    '{{$.params.q}}{{$p := .params}}{{$p.r}}': ['params.q', 'params.r'],
    '{{if .a.b}}{{else if eq .c 1}}{{.d}}{{end}}': ['a.b?', 'c', 'd'],
    '{{with .steps.x}}{{.output.f}}{{$.params.q}}{{end}}': ['steps.x?', 'steps.x.output.f', 'params.q'],
    '{{with $s := .steps.x.output}}{{$s.f}}{{end}}': ['steps.x.output?', 'steps.x.output.f'],
    '{{range $i, $e := .steps.l.output.items}}{{$e.name}}{{.id}}{{$.q}}{{end}}': ['steps.l.output.items', 'q'],
    '{{define "t"}}{{.output.z}}{{end}}{{template "t" .steps.k}}{{block "u" .steps.m}}{{.status}}{{end}}': [
      'steps.k.output.z',
      'steps.m.status',
    ],
    '{{$v := .a}}{{range .l}}{{$v.q}}{{$v = $.b}}{{end}}': ['l', 'a.q', 'b.q'],
    '{{$a := .x}}{{$b := .y}}{{$c := .z}}{{range .l}}{{$a.n}}{{$a = $b}}{{$b = $c}}{{$c = $.w}}{{end}}': [
      'l',
      'x.n',
      'y.n',
      'z.n',
      'w.n',
    ],
    '{{(or .a .b).c}}{{json .steps.x.output}}': ['a?', 'b?', 'a.c', 'b.c', 'steps.x.output'],
    '{{.t | printf "%s" | len}}{{(fromJson .u).v}}': ['t', 'u'],
    '{{define "deep"}}{{if .next}}{{template "deep" .next}}{{end}}{{end}}{{template "deep" .}}': ['next?'],
    '{{json .}}': [''],
  };
  for (const [text, paths] of Object.entries(cases)) {
    proves('choice.templates.references', `of ${text}`, () => {
      const found = compileTemplate(text).references();
      const shown = found.map(({ path, isWhole }) => `${path.join('.')}${isWhole ? '' : '?'}`);
      const ends = text.includes('deep') ? shown.slice(0, 1) : shown;
      expect([...ends].sort()).toEqual([...paths].sort());
    });
  }

  proves('choice.templates.references', 'have the position of their first use', () => {
    const [first, second] = compileTemplate('x\n{{.a}} {{.b.c}} {{.a}}').references();
    expect(first).toEqual({ path: ['a'], isWhole: true, line: 2, column: 3 });
    expect(second).toMatchObject({ path: ['b', 'c'], line: 2, column: 10 });
  });
});

function errorOf(run: () => unknown): TemplateError {
  try {
    run();
  } catch (cause) {
    if (cause instanceof TemplateError) return cause;
    throw cause;
  }
  throw new Error('expected a TemplateError, got none');
}
