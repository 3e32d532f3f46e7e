import { describe, expect, it } from 'vitest';
import { compositeConfig } from '../../../plugins/composite/engine/config.ts';
import { composite, problemsOf } from '../../support/composites.ts';
import { proves } from '../../support/proves.ts';

const echo = (id: string, more: object = {}) => ({ id, tool: 'far.echo', arguments: { message: id }, ...more });

describe('a definition', () => {
  proves(
    ['vmcp.composite.name', 'choice.composite.names'],
    'has a unique name of lower-case letters, digits, - and _',
    () => {
      expect(problemsOf({ steps: [echo('a')] })[0]).toMatch(/^\[0\]\.name: /);
      for (const name of ['', 'Upper', '-a', 'a-', 'a b', 'x'.repeat(65)]) {
        expect(problemsOf({ name, steps: [echo('a')] })[0]).toMatch(/^\[0\]\.name: expected/);
      }
      for (const name of ['a', 'a-b_c', 'x'.repeat(64)]) expect(problemsOf({ name, steps: [echo('a')] })).toEqual([]);
      expect(problemsOf(composite([echo('a')]), composite([echo('b')]))).toEqual([
        '[1].name: "flow" is already the name of compositeTools[0]; expected a unique name',
      ]);
    },
  );

  proves('vmcp.composite.description', 'may have a description', () => {
    expect(problemsOf(composite([echo('a')], { description: 'says a' }))).toEqual([]);
    expect(problemsOf(composite([echo('a')], { description: 5 }))[0]).toMatch(/^\[0\]\.description: /);
  });

  proves('vmcp.composite.steps', 'has one to one hundred steps', () => {
    const steps = (count: number) => Array.from({ length: count }, (_, index) => echo(`s${index}`));
    expect(problemsOf({ name: 'flow' } as never)[0]).toMatch(/^\[0\]\.steps: /);
    expect(problemsOf(composite([]))).toEqual(['[0].steps: expected at least one step']);
    expect(problemsOf(composite(steps(100)))).toEqual([]);
    expect(problemsOf(composite(steps(101)))).toEqual(['[0].steps: expected at most 100 steps']);
  });

  proves('vmcp.composite.timeout', 'has a timeout that is a Go duration, half an hour by default', () => {
    const timeoutOf = (more: object) =>
      compositeConfig.parse({ compositeTools: [composite([echo('a')], more as never)] }).compositeTools[0]?.timeout;
    expect(timeoutOf({})).toBe(1_800_000);
    expect(timeoutOf({ timeout: '1m30s' })).toBe(90_000);
    expect(problemsOf(composite([echo('a')], { timeout: '90' }))[0]).toMatch(/^\[0\]\.timeout: expected a Go duration/);
  });

  proves('vmcp.composite.parameters', 'has parameters that are a JSON Schema of type object', () => {
    expect(problemsOf(composite([echo('a')], { parameters: { type: 'array' } }))).toEqual([
      '[0].parameters.type: expected object',
    ]);
    expect(problemsOf(composite([echo('a')], { parameters: { type: 'object', properties: 5 } as never }))[0]).toMatch(
      /^\[0\]\.parameters/,
    );
    expect(problemsOf(composite([echo('a')], { parameters: { properties: { x: { type: 'strin' } } } }))[0]).toMatch(
      /^\[0\]\.parameters: is not a valid JSON Schema: /,
    );
  });

  it('has no unknown keys', () => {
    expect(problemsOf(composite([echo('a')], { step: [] }))[0]).toMatch(/Unrecognized key: "step"/);
    expect(problemsOf(composite([echo('a', { argument: {} })]))).toEqual([
      '[0].steps[0].argument: a step of type tool has no key "argument", did you mean "arguments"?',
    ]);
    expect(problemsOf(composite([echo('a', { collection: 'x' })]))[0]).toMatch(
      /a step of type tool has no key "collection"/,
    );
  });
});

describe('a step', () => {
  proves('vmcp.composite.step.id', 'has a unique id', () => {
    expect(problemsOf(composite([{ tool: 'far.echo' }]))[0]).toMatch(/^\[0\]\.steps\[0\]\.id: /);
    expect(problemsOf(composite([echo('a'), echo('a')]))).toEqual([
      '[0].steps[1].id: "a" is already the id of steps[0]; expected a unique id',
    ]);
  });

  proves('vmcp.composite.step.type', 'has a type of the contract or of a plugin, tool by default', () => {
    expect(problemsOf(composite([echo('a', { type: 'tool' })]))).toEqual([]);
    expect(problemsOf(composite([{ id: 'a', type: 'elicitaton', message: 'x', schema: {} }]))).toEqual([
      '[0].steps[0].type: no step type is named "elicitaton", did you mean "elicitation"?',
    ]);
    expect(problemsOf(composite([{ id: 'a', type: 'wait-for-noon', until: 'noon' }]))).toEqual([]); // may be the type of a plugin; the start checks it
    expect(problemsOf(composite([{ id: 'a', tool: 'x.y', message: 'm' }]))[0]).toMatch(
      /missing, expected tool or elicitation/,
    );
  });

  proves('vmcp.composite.step.tool', 'of type tool names its tool', () => {
    expect(problemsOf(composite([{ id: 'a' }]))).toEqual(['[0].steps[0].tool: missing, expected a text']);
    expect(problemsOf(composite([{ id: 'a', tool: 'far/echo' }]))[0]).toMatch(
      /^\[0\]\.steps\[0\]\.tool: expected workload\.tool_name/,
    );
  });

  proves('vmcp.composite.step.depends-on', 'depends on existing steps, not on itself, and not in a cycle', () => {
    expect(problemsOf(composite([echo('alpha'), echo('b', { dependsOn: ['alpa'] })]))).toEqual([
      '[0].steps[1].dependsOn[0]: no step has the id "alpa", did you mean "alpha"?',
    ]);
    expect(problemsOf(composite([echo('a', { dependsOn: ['a'] })]))).toEqual([
      '[0].steps[0].dependsOn[0]: step "a" cannot depend on itself',
    ]);
    expect(
      problemsOf(
        composite([
          echo('z'),
          echo('a', { dependsOn: ['c'] }),
          echo('b', { dependsOn: ['a'] }),
          echo('c', { dependsOn: ['b'] }),
        ]),
      ),
    ).toEqual(['[0].steps[1].dependsOn: steps depend on each other in a cycle: a -> c -> b -> a']);
  });

  proves('vmcp.composite.step.timeout', 'has a timeout that is a Go duration', () => {
    expect(problemsOf(composite([echo('a', { timeout: 'soon' })]))[0]).toMatch(
      /^\[0\]\.steps\[0\]\.timeout: expected a Go duration/,
    );
  });

  proves(
    [
      'vmcp.composite.step.on-error-action',
      'vmcp.composite.step.on-error-retry-count',
      'vmcp.composite.step.on-error-retry-delay',
    ],
    'has an action on error; retry settings need the action retry',
    () => {
      const with_ = (onError: object) => problemsOf(composite([echo('a', { onError })]));
      expect(with_({ action: 'ignore' })[0]).toMatch(/^\[0\]\.steps\[0\]\.onError\.action: /);
      expect(with_({ action: 'retry', retryCount: 3, retryDelay: '10ms' })).toEqual([]);
      expect(with_({ action: 'retry' })).toEqual([
        '[0].steps[0].onError.retryCount: missing, expected an integer of 1 or more',
      ]);
      expect(with_({ action: 'retry', retryCount: 0 })[0]).toMatch(/^\[0\]\.steps\[0\]\.onError\.retryCount: /);
      expect(with_({ action: 'retry', retryCount: 1.5 })[0]).toMatch(/^\[0\]\.steps\[0\]\.onError\.retryCount: /);
      expect(with_({ action: 'retry', retryCount: 1, retryDelay: '1 s' })[0]).toMatch(
        /^\[0\]\.steps\[0\]\.onError\.retryDelay: expected a Go/,
      );
      expect(with_({ action: 'continue', retryCount: 2 })).toEqual([
        '[0].steps[0].onError.retryCount: has no effect with action continue; expected action retry',
      ]);
      expect(with_({ retryDelay: '1s' })).toEqual([
        '[0].steps[0].onError.retryDelay: has no effect with action abort; expected action retry',
      ]);
    },
  );

  it('of type elicitation needs a message and a form that is not too large or deep', () => {
    const form = (more: object) => problemsOf(composite([{ id: 'a', type: 'elicitation', ...more }]));
    expect(form({ schema: {} })).toEqual(['[0].steps[0].message: missing, expected a text']);
    expect(form({ message: 'x' })).toEqual(['[0].steps[0].schema: missing, expected a map']);
    expect(form({ message: 'x', schema: { type: 'string' } })).toEqual(['[0].steps[0].schema.type: expected object']);
    let deep: object = { type: 'string' };
    for (let depth = 0; depth < 12; depth++) deep = { type: 'object', properties: { x: deep } };
    expect(form({ message: 'x', schema: deep })[0]).toMatch(/nested more than 10 deep/);
    expect(form({ message: 'x', schema: { description: 'x'.repeat(110_000) } })[0]).toMatch(/larger than 102400 bytes/);
    expect(form({ message: 'x', schema: {}, onDecline: { action: 'retry' } })[0]).toMatch(
      /^\[0\]\.steps\[0\]\.onDecline\.action: /,
    );
  });

  proves(
    [
      'vmcp.composite.for-each.max-iterations-cap',
      'vmcp.composite.for-each.inner-step',
      'choice.composite.for-each-keys',
    ],
    'of type forEach has at most 1000 iterations and one inner step of type tool',
    () => {
      const loop = (more: object, step: object = { tool: 'far.echo' }) =>
        problemsOf(composite([{ id: 'a', type: 'forEach', collection: '[]', step, ...more } as never]));
      expect(loop({})).toEqual([]);
      expect(loop({ maxIterations: 1000 })).toEqual([]);
      expect(loop({ maxIterations: 1001 })[0]).toMatch(/^\[0\]\.steps\[0\]\.maxIterations: /);
      expect(loop({}, { type: 'elicitation', message: 'x', schema: {} })[0]).toMatch(/^\[0\]\.steps\[0\]\.step/);
      expect(loop({ itemVar: 'index' })[0]).toMatch(/index is the number of the item/);
      expect(loop({ itemVar: '1x' })[0]).toMatch(/^\[0\]\.steps\[0\]\.itemVar: /);
      expect(problemsOf(composite([{ id: 'a', type: 'forEach', step: { tool: 'x.y' } }]))).toEqual([
        '[0].steps[0].collection: missing, expected a text',
      ]);
    },
  );
});

describe('a template', () => {
  proves('choice.composite.templates-at-start', 'is compiled at the start, in every field', () => {
    const places = [
      echo('a', { arguments: { message: '{{' } }),
      echo('b', { arguments: { deep: { list: ['{{ .params.x | nope }}'] } } }),
      echo('c', { condition: '{{ if }}' }),
      { id: 'd', type: 'elicitation', message: '{{end}}', schema: {} },
      { id: 'e', type: 'forEach', collection: '{{ range }}', step: { tool: 'x.y', arguments: { z: '{{ . }' } } },
    ];
    const output = { properties: { o: { type: 'string', value: '{{ "' } } };
    const problems = problemsOf(composite(places as never, { output }));
    expect(problems.map((sentence) => sentence.split(': ')[0])).toEqual([
      '[0].steps[0].arguments.message',
      '[0].steps[1].arguments.deep.list[0]',
      '[0].steps[2].condition',
      '[0].steps[3].message',
      '[0].steps[4].collection',
      '[0].steps[4].step.arguments.z',
      '[0].output.properties.o.value',
    ]);
    expect(problems.every((sentence) => sentence.includes('invalid template: 1:'))).toBe(true);
  });

  proves(
    'choice.composite.missing-depends',
    'reads only steps that have ended; the error names the missing dependsOn',
    () => {
      const reads = (more: object = {}) =>
        composite([echo('a'), echo('b', { arguments: { message: '{{.steps.a.output.text}}' }, ...more })]);
      expect(problemsOf(reads())).toEqual([
        '[0].steps[1].arguments.message: step "b" reads step "a", which may still be running; add "a" to dependsOn',
      ]);
      expect(problemsOf(reads({ dependsOn: ['a'] }))).toEqual([]);
      const far = [
        echo('a'),
        echo('b', { dependsOn: ['a'] }),
        echo('c', { dependsOn: ['b'], condition: '{{eq .steps.a.status "completed"}}' }),
      ];
      expect(problemsOf(composite(far))).toEqual([]);
      expect(problemsOf(composite([echo('a', { condition: '{{eq .steps.a.status "x"}}' })]))).toEqual([
        '[0].steps[0].condition: step "a" reads itself',
      ]);
      expect(
        problemsOf(
          composite([
            echo('my-step'),
            echo('b', { arguments: { message: '{{ (index .steps "my-step").output.text }}' } }),
          ]),
        )[0],
      ).toMatch(/add "my-step" to dependsOn/);
    },
  );

  proves(
    'choice.composite.known-roots',
    'reads only known data: parameters, steps, the workflow, and the item inside forEach',
    () => {
      const says = (template: string, more: object = {}) =>
        problemsOf(composite([echo('alpha', { arguments: { message: template } })], more as never));
      expect(says('{{.param.x}}')).toEqual([
        '[0].steps[0].arguments.message: templates cannot read .param, did you mean .params?',
      ]);
      expect(says('{{.workflow.identity}}')[0]).toMatch(/\.workflow has no identity/);
      expect(says('{{.forEach.item}}')).toEqual([
        '[0].steps[0].arguments.message: .forEach exists only inside the step of a forEach step',
      ]);
      expect(says('{{.params.anything}}{{.vars.x}}{{.workflow.id}}')).toEqual([]);
      const closed = { parameters: { type: 'object', properties: { name: {} }, additionalProperties: false } };
      expect(says('{{.params.nam}}', closed)).toEqual([
        '[0].steps[0].arguments.message: .params has no nam, did you mean .params.name?',
      ]);
      const output = {
        properties: {
          o: { type: 'string', value: '{{.steps.alpa.output}}' },
          p: { type: 'string', value: '{{.steps.alpha.result}}' },
        },
      };
      expect(problemsOf(composite([echo('alpha')], { output }))).toEqual([
        '[0].output.properties.o.value: no step has the id "alpa", did you mean "alpha"?',
        '[0].output.properties.p.value: .steps.alpha has no result (known: status, output, content, error)',
      ]);
      const loop = {
        id: 'l',
        type: 'forEach',
        collection: '[]',
        itemVar: 'city',
        step: { tool: 'x.y', arguments: { a: '{{.forEach.city}}{{.forEach.index}}{{.forEach.item}}' } },
      };
      expect(problemsOf(composite([loop]))).toEqual([
        '[0].steps[0].step.arguments.a: .forEach has no item (known: city, index)',
      ]);
    },
  );

  proves(
    'vmcp.composite.step.default-results-required',
    'reads the output of a step that may be skipped or fail only when that step has defaults',
    () => {
      const reading = (first: object, template = '{{.steps.a.output.text}}') =>
        problemsOf(composite([echo('a', first), echo('b', { dependsOn: ['a'], arguments: { message: template } })]));
      expect(reading({ condition: 'true' })).toEqual([
        '[0].steps[1].arguments.message: reads the output of step "a", which has a condition; give that step defaultResults with "text"',
      ]);
      expect(reading({ onError: { action: 'continue' }, defaultResults: { other: 1 } })).toEqual([
        '[0].steps[1].arguments.message: reads output.text of step "a", which may fail; add "text" to its defaultResults',
      ]);
      expect(reading({ condition: 'true', defaultResults: { text: '' } })).toEqual([]);
      expect(reading({ condition: 'true' }, '{{.steps.a.status}}')).toEqual([]);
      const output = { properties: { o: { type: 'string', value: '{{json .steps.a.output}}' } } };
      expect(problemsOf(composite([echo('a', { condition: 'true' })], { output }))[0]).toMatch(
        /give that step defaultResults/,
      );
    },
  );
});

describe('an output', () => {
  proves(
    [
      'vmcp.composite.output-properties',
      'vmcp.composite.output-required',
      'vmcp.composite.output-type',
      'vmcp.composite.output-description',
    ],
    'has typed properties, and requires only defined ones',
    () => {
      const out = (output: object) => problemsOf(composite([echo('a')], { output } as never));
      expect(out({})[0]).toMatch(/^\[0\]\.output\.properties: /);
      for (const type of ['string', 'integer', 'number', 'boolean', 'object', 'array']) {
        expect(out({ properties: { p: { type, description: 'what it is', value: 'x' } } })).toEqual([]);
      }
      expect(out({ properties: { p: { type: 'text', value: 'x' } } })[0]).toMatch(
        /^\[0\]\.output\.properties\.p\.type: /,
      );
      expect(out({ properties: { p: { type: 'string', description: 5, value: 'x' } } })[0]).toMatch(/description/);
      expect(out({ properties: { p: { type: 'string', value: 'x' } }, required: ['q'] })).toEqual([
        '[0].output.required[0]: output has no property "q"',
      ]);
      expect(out({ properties: { p: { type: 'string', value: 'x' } }, required: 'p' })[0]).toMatch(
        /^\[0\]\.output\.required: /,
      );
    },
  );

  it('has either a value or properties, and a default of its type', () => {
    const out = (property: object) =>
      problemsOf(composite([echo('a')], { output: { properties: { p: property } } } as never));
    expect(out({ type: 'string' })).toEqual([
      '[0].output.properties.p: neither value nor properties; expected one of them',
    ]);
    expect(out({ type: 'object', value: '{}', properties: { q: { type: 'string', value: '' } } })[0]).toMatch(
      /value and properties exclude each other/,
    );
    expect(out({ type: 'string', properties: { q: { type: 'string', value: '' } } })[0]).toMatch(/expected object/);
    expect(out({ type: 'integer', value: '1', default: 'one' })).toEqual([
      '[0].output.properties.p.default: cannot be read as integer',
    ]);
    let deep: object = { type: 'string', value: 'x' };
    for (let depth = 0; depth < 11; depth++) deep = { type: 'object', properties: { q: deep } };
    expect(out(deep).at(-1)).toMatch(/nested more than 10 deep/);
  });
});

describe('composite tools that call each other', () => {
  proves('choice.composite.no-circles', 'must not form a cycle', () => {
    const calls = (name: string, tool: string) => ({ name, steps: [{ id: 'a', tool }] });
    expect(problemsOf(calls('one', 'two'), calls('two', 'far.echo'))).toEqual([]);
    expect(problemsOf(calls('one', 'two'), calls('two', 'three'), calls('three', 'one'))).toEqual([
      '[0].steps: composite tools call each other in a cycle: one -> two -> three -> one',
    ]);
    expect(problemsOf(calls('self', 'self'))).toEqual([
      '[0].steps: composite tools call each other in a cycle: self -> self',
    ]);
    const loop = { name: 'l', steps: [{ id: 'a', type: 'forEach', collection: '[]', step: { tool: 'l' } }] };
    expect(problemsOf(loop)[0]).toMatch(/in a cycle: l -> l/);
  });
});
