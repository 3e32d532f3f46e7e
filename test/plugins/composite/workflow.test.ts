import type { JsonObject } from '@toolmgr/core';
import { fakeServer, text } from '@toolmgr/core/testing';
import { describe, expect, it } from 'vitest';
import { composing, composite, type Definitions, farServer } from '../../support/composites.ts';
import { proves } from '../../support/proves.ts';

const ERAS = ['2025-11-25', '2026-07-28'] as const;

/** The result of a workflow, which must be equal in both eras. */
async function answerOf(definition: JsonObject, given: JsonObject = {}) {
  await using kit = await composing([definition]);
  const [legacy, modern] = [
    await kit.ask('flow', given, { era: ERAS[0] }),
    await kit.ask('flow', given, { era: ERAS[1] }),
  ];
  expect(legacy).toEqual(modern);
  return modern;
}

const echo = (id: string, message: string, more: object = {}) => ({
  id,
  tool: 'far.echo',
  arguments: { message },
  ...more,
});
const mirror = (id: string, given: object, more: object = {}) =>
  ({ id, tool: 'far.mirror', arguments: given, ...more }) as JsonObject;

describe('a composite tool', () => {
  proves(
    ['vmcp.surface.composite-tools', 'choice.composite.annotations'],
    'is listed with its parameters, its output schema and the combined hints of its steps',
    async () => {
      const parameters = { type: 'object', properties: { who: { type: 'string' } }, required: ['who'] };
      const output = {
        properties: { said: { type: 'string', description: 'the words', value: '{{.steps.a.output.text}}' } },
        required: ['said'],
      };
      const reads: JsonObject = {
        name: 'reads',
        description: 'greets',
        parameters,
        output,
        steps: [echo('a', 'hi {{.params.who}}')],
      };
      const writes: JsonObject = { name: 'writes', steps: [echo('a', 'x'), mirror('b', {})] };
      await using kit = await composing([reads, writes]);
      for (const era of ERAS) {
        const client = await kit.client({ era });
        const { tools } = (await client.request('tools/list')).result as { tools: { name: string }[] };
        expect(tools.find(({ name }) => name === 'reads')).toEqual({
          name: 'reads',
          description: 'greets',
          inputSchema: parameters,
          outputSchema: {
            type: 'object',
            properties: { said: { type: 'string', description: 'the words' } },
            required: ['said'],
          },
          annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: false },
        });
        expect(tools.find(({ name }) => name === 'writes')).toEqual({
          name: 'writes',
          inputSchema: { type: 'object', properties: {} },
          annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
        });
      }
    },
  );

  proves(
    'choice.composite.only-while-routable',
    'is listed only while all its tools are available; a warning names the missing one',
    async () => {
      const near = fakeServer().tool('here', 'yes');
      await using kit = await composing([composite([{ id: 'a', tool: 'near.here' }, echo('b', 'x')])], {
        backends: { near },
      });
      const client = await kit.client();
      expect(await client.toolNames()).toContain('flow');
      kit.setBackends({ far: kit.far });
      await expect.poll(() => client.toolNames()).not.toContain('flow');
      expect(kit.gateway.catalog().warnings).toContain(
        'composite tool "flow" is not listed: no backend offers near.here',
      );
      const missing = await client.request('tools/call', { name: 'flow', arguments: {} });
      expect(missing.error?.message).toMatch(/flow/);
      kit.setBackends({ far: kit.far, near });
      await expect.poll(() => client.toolNames()).toContain('flow');
    },
  );

  proves('choice.composite.starting', 'over a backend without lists so far causes no warning', async () => {
    const near = fakeServer().tool('here', 'yes');
    const definitions = [composite([{ id: 'a', tool: 'near.here' }, echo('b', 'x')])];
    const listed = Promise.withResolvers<void>();
    near.on('tools/list', async () => {
      await listed.promise;
      return { tools: [{ name: 'here', inputSchema: { type: 'object' } }] };
    });
    await using kit = await composing(definitions, { backends: { near } });
    const client = await kit.client();
    expect(await client.toolNames()).not.toContain('flow');
    expect(kit.gateway.catalog().warnings).toEqual([]);
    listed.resolve();
    await expect.poll(() => client.toolNames()).toContain('flow');
  });

  proves('choice.composite.shadow', 'may hide the tool of the same name and call it', async () => {
    await using kit = await composing([
      {
        name: 'echo',
        parameters: { type: 'object', properties: { message: { type: 'string' } } },
        steps: [echo('a', '<{{.params.message}}>')],
      },
    ]);
    const client = await kit.client();
    expect((await client.toolNames()).filter((name) => name === 'echo')).toHaveLength(1);
    expect((await kit.ask('echo', { message: 'x' })).text).toBe('{"text":"<x>"}');
    expect(kit.gateway.catalog().warnings.join()).toMatch(/tool "echo" of far is hidden/);
  });

  proves(
    ['choice.composite.parameters-checked', 'vmcp.composite.parameters'],
    'checks its arguments: -32602 names the path and the rule, and top-level defaults are added',
    async () => {
      const parameters = {
        type: 'object',
        properties: { n: { type: 'integer', minimum: 1 }, unit: { type: 'string', default: 'km' } },
        required: ['n'],
        additionalProperties: false,
      };
      await using kit = await composing([composite([echo('a', '{{.params.n}} {{.params.unit}}')], { parameters })]);
      expect((await kit.ask('flow', { n: 5 })).output).toEqual({ text: '5 km' });
      for (const era of ERAS) {
        const client = await kit.client({ era });
        const wrong: [JsonObject, RegExp][] = [
          [{}, /required property 'n'/],
          [{ n: 'secret' }, /n: must be integer/],
          [{ n: 0 }, /n: must be >= 1/],
          [{ n: 1, m: 2 }, /additional properties \("m"\)/],
        ];
        for (const [given, says] of wrong) {
          const { error } = await client.request('tools/call', { name: 'flow', arguments: given });
          expect(error?.code).toBe(-32602);
          expect(error?.message).toMatch(says);
          expect(error?.message).not.toContain('secret');
        }
      }
      expect(kit.far.received.filter(({ method }) => method === 'tools/call')).toHaveLength(1);
    },
  );
});

describe('arguments of a step', () => {
  proves(
    ['vmcp.composite.step.arguments', 'vmcp.composite.step.arguments-others', 'choice.composite.nested-templates'],
    'are templates in strings at any depth; other values and keys are unchanged',
    async () => {
      const { output } = await answerOf(
        composite([
          mirror('a', {
            top: '{{.params.x}}!',
            deep: { list: ['{{.params.x}}', { more: '{{.params.x}}' }, 7], '{{.params.x}}': true },
            number: 1.5,
            nothing: null,
            plain: 'no braces',
          }),
        ]),
        { x: 'y' },
      );
      expect(output).toEqual({
        top: 'y!',
        deep: { list: ['y', { more: 'y' }, 7], '{{.params.x}}': true },
        number: 1.5,
        nothing: null,
        plain: 'no braces',
      });
    },
  );

  proves(
    'choice.composite.coercion',
    'are converted to the types of the input schema, also of hidden tools, or stay strings',
    async () => {
      const definition = composite([{ id: 'a', tool: 'far.sum', arguments: { a: '{{.params.a}}', b: '3' } }]);
      expect((await answerOf(definition, { a: 1.5 })).output).toEqual({ total: 4.5, types: ['number', 'number'] });
      const schema = {
        type: 'object',
        properties: {
          flag: { type: 'boolean' },
          list: { type: 'array', items: { type: 'integer' } },
          tree: { type: 'object', properties: { n: { type: 'number' } } },
          either: { type: ['string', 'integer'] },
          odd: { type: 'integer' },
        },
      };
      const hidden = fakeServer().tool('typed', ({ arguments: given }) => ({ content: [], structuredContent: given }), {
        inputSchema: schema,
      });
      const { default: aggregation } = await import('../../../plugins/aggregation/index.ts');
      await using kit = await composing(
        [
          composite([
            {
              id: 'a',
              tool: 'hidden.typed',
              arguments: {
                flag: '{{eq 1 1}}',
                list: '{{json .params.list}}',
                tree: { n: '2.5' },
                either: '5',
                odd: 'five',
              },
            },
          ]),
        ],
        {
          backends: { hidden },
          plugins: [
            {
              ...aggregation,
              config: aggregation.config.transform(() => aggregation.config.parse({ excludeAllTools: true })) as never,
            },
          ],
        },
      );
      const client = await kit.client();
      expect(await client.toolNames()).toEqual(['flow']);
      expect((await kit.ask('flow', { list: ['1', 2] })).output).toEqual({
        flag: true,
        list: [1, 2],
        tree: { n: 2.5 },
        either: '5',
        odd: 'five',
      });
    },
  );
});

describe('steps', () => {
  proves('choice.composite.parallel-without-depends', 'without dependsOn run in parallel, at most ten', async () => {
    let running = 0;
    let most = 0;
    let release = (): void => {};
    const gate = new Promise<void>((open) => {
      release = open;
    });
    const far = farServer().tool('meet', async () => {
      most = Math.max(most, ++running);
      if (running === 10) release();
      await gate;
      running--;
      return text('met');
    });
    const steps = Array.from({ length: 25 }, (_, index) => ({ id: `s${index}`, tool: 'far.meet' }));
    await using kit = await composing([composite(steps)], { far });
    expect((await kit.ask('flow')).isError).toBe(false);
    expect(most).toBe(10);
  });

  proves(
    'choice.composite.told',
    'run level by level in any order of the file, and emit events at start and end',
    async () => {
      await using kit = await composing([
        composite([
          echo('c', '{{.steps.b.output.text}}c', { dependsOn: ['b'] }),
          echo('b', '{{.steps.a.output.text}}b', { dependsOn: ['a'] }),
          echo('a', 'a'),
        ]),
      ]);
      expect((await kit.ask('flow')).output).toEqual({ text: 'abc' });
      expect(kit.changes()).toEqual([
        'started',
        ...['a', 'b', 'c'].flatMap((id) => [`step_started ${id}`, `step_completed ${id}`]),
        'completed',
      ]);
    },
  );

  proves(
    'vmcp.composite.step.condition',
    'are skipped when their condition renders false; anything but true and false fails',
    async () => {
      const defaults = { defaultResults: { text: 'none' } };
      const definition = composite([
        echo('a', 'A', { condition: ' {{.params.go}}\n', ...defaults }),
        echo('b', 'got {{.steps.a.output.text}} ({{.steps.a.status}})', { dependsOn: ['a'] }),
      ]);
      expect((await answerOf(definition, { go: true })).output).toEqual({ text: 'got A (completed)' });
      expect((await answerOf(definition, { go: 'False' })).output).toEqual({ text: 'got none (skipped)' });
      for (const go of [1, '', 'yes', 'tRuE']) {
        const { isError, text: said } = await answerOf(definition, { go });
        expect(isError).toBe(true);
        expect(said).toMatch(/^Workflow execution failed: step a: the condition rendered .* expected true or false$/s);
      }
    },
  );

  proves(
    'vmcp.composite.step.default-results',
    'output their defaults when they are skipped or fail with continue',
    async () => {
      const more = { defaultResults: { text: 'fallback' }, onError: { action: 'continue' } };
      const reads = (tool: object) =>
        composite([
          { id: 'a', ...tool, ...more } as never,
          echo('b', '{{.steps.a.output.text}}|{{.steps.a.status}}|{{.steps.a.error}}', { dependsOn: ['a'] }),
        ]);
      expect((await answerOf(reads({ tool: 'far.fail' }))).output).toEqual({
        text: 'fallback|failed|tool call failed: tool far.fail in step a: it broke',
      });
      // also when a template or condition fails
      expect((await answerOf(reads({ tool: 'far.echo', arguments: { message: '{{ fromJson "{" }}' } }))).text).toMatch(
        /fallback\|failed\|template: /,
      );
      expect((await answerOf(reads({ tool: 'far.echo', condition: 'maybe' }))).text).toMatch(
        /fallback\|failed\|the condition rendered/,
      );
      expect((await answerOf(reads({ tool: 'far.echo', condition: 'false' }))).text).toMatch(/fallback\|skipped/);
    },
  );

  it('output structured content when there is any, and always the content by kind', async () => {
    const resource = { uri: 'x://1', text: 'r' };
    const far = farServer().tool('rich', () => ({
      content: [
        { type: 'text', text: 'one' },
        { type: 'text', text: 'two' },
        { type: 'image', data: 'aW1n', mimeType: 'image/png' },
        { type: 'audio', data: 'YXVk', mimeType: 'audio/wav' },
        { type: 'resource', resource },
        { type: 'resource_link', uri: 'x://2', name: 'l' },
      ],
    }));
    await using kit = await composing(
      [
        { name: 'rich', steps: [{ id: 'a', tool: 'far.rich' }] },
        {
          name: 'both',
          steps: [
            { id: 'a', tool: 'far.sum', arguments: { a: 1, b: 2 } },
            echo('b', '{{.steps.a.content.text}} {{.steps.a.output.total}}', { dependsOn: ['a'] }),
          ],
        },
      ],
      { far },
    );
    expect((await kit.ask('rich')).output).toEqual({
      text: 'one',
      text_1: 'two',
      image_0: 'aW1n',
      audio_0: 'YXVk',
      resource,
      link_0: 'x://2',
    });
    expect((await kit.ask('both')).output).toEqual({ text: '3 3' });
  });
});

describe('a step that fails', () => {
  proves(
    ['vmcp.composite.step.on-error-action', 'choice.composite.failure-texts'],
    'ends the workflow and its parallel steps by default; the result names step and reason',
    async () => {
      let cancelled = (): void => {};
      const wasCancelled = new Promise<void>((resolve) => {
        cancelled = resolve;
      });
      let begun = (): void => {};
      const hasBegun = new Promise<void>((resolve) => {
        begun = resolve;
      });
      const far = farServer()
        .tool('wait', ({ signal }) => {
          signal.addEventListener('abort', cancelled);
          begun();
          return new Promise(() => {});
        })
        .tool('fail-then', async () => {
          await hasBegun;
          return { content: [{ type: 'text', text: 'no luck' }], isError: true };
        });
      await using kit = await composing(
        [
          composite([
            { id: 'a', tool: 'far.fail-then' },
            { id: 'w', tool: 'far.wait' },
            echo('never', 'x', { dependsOn: ['a'] }),
          ]),
        ],
        { far },
      );
      const { isError, text: said } = await kit.ask('flow');
      expect(isError).toBe(true);
      expect(said).toBe('Workflow execution failed: tool call failed: tool far.fail-then in step a: no luck');
      await wasCancelled;
      expect(kit.changes()).toContain('step_failed a');
      expect(kit.changes()).toContain('step_failed w');
      expect(kit.changes().at(-1)).toBe('failed');
      expect(kit.changes().join()).not.toContain('never');
    },
  );

  it('fails in the same way when the tool returns a JSON-RPC error or cannot be routed', async () => {
    const far = farServer().tool('error', () => {
      throw { code: -32050, message: 'own error' };
    });
    await using kit = await composing([composite([{ id: 'a', tool: 'far.error' }])], { far });
    expect((await kit.ask('flow')).text).toBe(
      'Workflow execution failed: tool call failed: tool far.error in step a: own error',
    );
  });

  proves('choice.composite.retry', 'is retried with retry, and the attempts are counted', async () => {
    let calls = 0;
    const far = farServer().tool('flaky', () =>
      ++calls < 3 ? { content: [{ type: 'text', text: 'busy' }], isError: true } : text('done'),
    );
    const retry = (retryCount: number) => ({ action: 'retry', retryCount, retryDelay: '1ms' });
    await using kit = await composing(
      [
        { name: 'three', steps: [{ id: 'a', tool: 'far.flaky', onError: retry(2) }] },
        { name: 'two', steps: [{ id: 'a', tool: 'far.flaky', onError: retry(1) }] },
        {
          name: 'hopeless',
          steps: [{ id: 'a', tool: 'far.echo', arguments: { message: '{{ fromJson "{" }}' }, onError: retry(5) }],
        },
      ],
      { far },
    );
    expect((await kit.ask('three')).output).toEqual({ text: 'done' });
    expect(kit.events.find(({ change }) => change === 'step_completed')?.retryCount).toBe(2);
    calls = 0;
    expect((await kit.ask('two')).text).toMatch(/busy$/);
    expect(calls).toBe(2);
    expect((await kit.ask('hopeless')).isError).toBe(true);
    expect(kit.far.received.filter(({ params }) => params.name === 'echo')).toHaveLength(0); // a failed template is not retried
  });
});

describe('a timeout', () => {
  const never = () => farServer().tool('never', () => new Promise<never>(() => {}));

  proves('vmcp.composite.step.timeout', 'of a step covers all its attempts', async () => {
    await using kit = await composing(
      [
        composite([
          {
            id: 'a',
            tool: 'far.never',
            timeout: '30ms',
            onError: { action: 'retry', retryCount: 5, retryDelay: '1ms' },
          },
        ]),
      ],
      { far: never() },
    );
    expect((await kit.ask('flow')).text).toBe('Workflow execution failed: step a: timed out after 30 ms');
  });

  it('of a step with action continue does not end the workflow', async () => {
    const steps = [
      { id: 'a', tool: 'far.never', timeout: '20ms', onError: { action: 'continue' } },
      echo('b', '{{.steps.a.status}}', { dependsOn: ['a'] }),
    ];
    await using kit = await composing([composite(steps)], { far: never() });
    expect((await kit.ask('flow')).output).toEqual({ text: 'failed' });
  });

  proves('vmcp.composite.timeout', 'of the workflow ends all its steps', async () => {
    const steps: Definitions = [
      { id: 'a', tool: 'far.never', onError: { action: 'continue' } },
      echo('b', 'x', { dependsOn: ['a'] }),
    ];
    await using kit = await composing([composite(steps, { timeout: '40ms' })], { far: never() });
    const { isError, text: said } = await kit.ask('flow');
    expect(isError).toBe(true);
    expect(said).toBe('Workflow execution timeout exceeded');
    expect(kit.changes().at(-1)).toBe('timed_out');
    expect(kit.changes().join()).not.toContain('started b');
  });

  it('is not needed when the client disconnects: the running tool is cancelled, no step starts', async () => {
    let stopped = (): void => {};
    const wasStopped = new Promise<void>((resolve) => {
      stopped = resolve;
    });
    const leave = new AbortController();
    const far = farServer().tool('wait', ({ signal }) => {
      signal.addEventListener('abort', stopped);
      leave.abort();
      return new Promise(() => {});
    });
    await using kit = await composing(
      [
        composite([
          { id: 'a', tool: 'far.wait', onError: { action: 'continue' } },
          echo('b', 'x', { dependsOn: ['a'] }),
        ]),
      ],
      { far },
    );
    const client = await kit.client();
    await client.request('tools/call', { name: 'flow', arguments: {} }, leave.signal).catch(() => undefined);
    await wasStopped;
    await expect.poll(() => kit.changes().at(-1)).toBe('failed');
    expect(kit.far.received.filter(({ params }) => params.name === 'echo')).toHaveLength(0);
  });
});

describe('the answer', () => {
  proves('vmcp.composite.output-absent', 'is the output of the last step by default', async () => {
    expect((await answerOf(composite([echo('a', 'A'), echo('b', 'B', { dependsOn: ['a'] })]))).output).toEqual({
      text: 'B',
    });
    const skipped = composite([echo('a', 'A'), echo('b', 'B', { dependsOn: ['a'], condition: 'false' })]);
    expect((await answerOf(skipped)).output).toEqual({ text: 'A' });
  });

  proves(
    [
      'vmcp.composite.output-value',
      'vmcp.composite.output-value-object',
      'vmcp.composite.output-type',
      'vmcp.composite.output-nested',
    ],
    'is built from templates, with the configured types, also nested',
    async () => {
      const value = (type: string, template: string) => ({ type, value: template });
      const properties = {
        text: value('string', '{{.steps.a.output.total}} {{.params.x}}'),
        integer: value('integer', ' {{.steps.a.output.total}} '),
        number: value('number', '1e3'),
        boolean: value('boolean', '{{gt .steps.a.output.total 2}}'),
        object: value('object', '{{json .steps.a.output}}'),
        array: value('array', '{{json .steps.a.output.types}}'),
        nested: {
          type: 'object',
          properties: { deep: { type: 'object', properties: { x: value('string', '{{.params.x}}') } } },
        },
      };
      const { output, text: said } = await answerOf(
        composite([{ id: 'a', tool: 'far.sum', arguments: { a: 1, b: 2 } }], { output: { properties } }),
        { x: 'y' },
      );
      expect(output).toEqual({
        text: '3 y',
        integer: 3,
        number: 1000,
        boolean: true,
        object: { total: 3, types: ['number', 'number'] },
        array: ['number', 'number'],
        nested: { deep: { x: 'y' } },
      });
      expect(JSON.parse(said)).toEqual(output);
    },
  );

  proves(
    ['vmcp.composite.output-default', 'vmcp.composite.output-required'],
    'uses defaults where a template renders no valid value, and fails without them',
    async () => {
      const built = (property: object, required: string[] = []) =>
        answerOf(composite([echo('a', 'words')], { output: { properties: { p: property }, required } } as never));
      expect((await built({ type: 'integer', value: '{{.steps.a.output.text}}', default: '7.9' })).output).toEqual({
        p: 7,
      });
      expect((await built({ type: 'string', value: '{{.steps.a.output.gone}}', default: 5 })).output).toEqual({
        p: '5',
      });
      expect((await built({ type: 'boolean', value: '{{.params.gone.deeper}}', default: 'yes' })).output).toEqual({
        p: true,
      });
      expect((await built({ type: 'array', value: 'x', default: [1] }, ['p'])).output).toEqual({ p: [1] });
      for (const [property, why] of [
        [{ type: 'integer', value: 'words' }, /property "p" cannot be read as integer$/],
        [{ type: 'string', value: '{{.steps.a.output.gone}}' }, /property "p" has no value$/],
      ] as const) {
        const { isError, text: said } = await built(property);
        expect(isError).toBe(true);
        expect(said).toMatch(/^Workflow execution failed: output construction failed: /);
        expect(said).toMatch(why);
      }
    },
  );

  it('may read the workflow itself', async () => {
    const properties = {
      id: { type: 'string', value: '{{.workflow.id}}' },
      at: { type: 'string', value: '{{.workflow.start_time}}' },
      steps: { type: 'integer', value: '{{.workflow.step_count}}' },
    };
    await using kit = await composing([composite([echo('a', 'x')], { output: { properties } })]);
    const { output } = await kit.ask('flow');
    expect(output).toMatchObject({ id: kit.events[0]?.workflowId, steps: 1 });
    expect(Date.parse(String(output?.at))).toBeGreaterThan(0);
  });
});

describe('progress', () => {
  proves('choice.composite.progress', 'is sent after each step when the client asked for it', async () => {
    await using kit = await composing([composite([echo('a', 'x'), echo('b', 'y', { dependsOn: ['a'] })])]);
    const client = await kit.client();
    const { told, result } = await client.request('tools/call', {
      name: 'flow',
      arguments: {},
      _meta: { progressToken: 'p' },
    });
    expect(result?.isError).not.toBe(true);
    expect(told.map(({ params }) => params)).toMatchObject([
      { progressToken: 'p', progress: 1, total: 2 },
      { progressToken: 'p', progress: 2, total: 2 },
    ]);
  });
});

describe('a composite tool inside another', () => {
  it('is called like a tool', async () => {
    const parameters = { type: 'object', properties: { n: { type: 'integer' } } };
    await using kit = await composing([
      composite(
        [
          { id: 'a', tool: 'double', arguments: { n: '{{.params.n}}' } },
          { id: 'b', tool: 'double', arguments: { n: '{{.steps.a.output.r}}' }, dependsOn: ['a'] },
        ],
        { parameters },
      ),
      {
        name: 'double',
        parameters,
        steps: [{ id: 's', tool: 'far.sum', arguments: { a: '{{.params.n}}', b: '{{.params.n}}' } }],
        output: { properties: { r: { type: 'integer', value: '{{.steps.s.output.total}}' } } },
      },
    ]);
    expect((await kit.ask('flow', { n: 3 })).output).toEqual({ r: 12 });
  });
});
