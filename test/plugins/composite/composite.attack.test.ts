import { definePlugin, encode, type JsonObject, resultFromValue, toolFailure } from '@toolmgr/core';
import { text } from '@toolmgr/core/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { coerceToSchema } from '../../../plugins/composite/engine/coerce.ts';
import { compositeConfig } from '../../../plugins/composite/engine/config.ts';
import { suspendInMemory, suspendInStore } from '../../../plugins/composite/engine/suspended-workflows.ts';
import { MemoryStore } from '../../../plugins/stores/memory/memory-store.ts';
import { composing, composite, farServer, problemsOf } from '../../support/composites.ts';
import { cpuClock } from '../../support/cpu-clock.ts';
import { proves } from '../../support/proves.ts';

const MB = 1024 * 1024;

describe('an argument of a caller', () => {
  proves('choice.composite.bounded', 'is never read as a template, nor is a tool result', async () => {
    const evil = '{{ json . }}{{ .params.secret }}{{ range .params.list }}';
    const steps = [
      { id: 'a', tool: 'far.echo', arguments: { message: '{{.params.message}}' } },
      { id: 'b', tool: 'far.echo', arguments: { message: '{{.steps.a.output.text}}' }, dependsOn: ['a'] },
      {
        id: 'c',
        type: 'forEach',
        collection: '{{json .params.list}}',
        dependsOn: ['b'],
        step: { tool: 'far.echo', arguments: { message: '{{.forEach.item}}{{.steps.b.output.text}}' } },
      },
    ];
    await using kit = await composing([composite(steps)]);
    const { output } = await kit.ask('flow', { message: evil, list: [evil], secret: 'hush' });
    expect((output?.iterations as JsonObject[])[0]?.output).toEqual({ text: `${evil}${evil}` });
  });

  it('that is nearly a number is converted in linear time', () => {
    const usedMs = cpuClock();
    for (const text of [`${'0'.repeat(500_000)}x`, `${'1'.repeat(500_000)}.${'1'.repeat(500_000)}e`]) {
      expect(coerceToSchema(text, { type: ['integer', 'number'] })).toBe(text);
    }
    expect(usedMs()).toBeLessThan(1_000);
    for (const [text, number] of Object.entries({ '1.': 1, '.5': 0.5, '-2.5e3': -2500, '+7': 7 }))
      expect(coerceToSchema(text, { type: 'number' })).toBe(number);
  });

  it('does not reach a prototype', async () => {
    const properties = (template: string) => ({ output: { properties: { p: { type: 'string', value: template } } } });
    const reads = [
      '{{.params.constructor}}',
      '{{.params.__proto__}}',
      '{{.params.toString}}',
      '{{index .params "constructor"}}',
      '{{.workflow.id.length}}',
    ];
    for (const [index, template] of reads.entries()) {
      const problems = problemsOf(composite([{ id: 'a', tool: 'far.echo' }], properties(template)));
      expect(problems.length === 0 || index === 4).toBe(true);
      await using kit = await composing([composite([{ id: 'a', tool: 'far.echo' }], properties(template))]);
      expect((await kit.ask('flow', {})).text).toMatch(/output construction failed/);
    }
    const steps = [
      { id: '__proto__', tool: 'far.echo', arguments: { message: 'x' } },
      {
        id: 'constructor',
        tool: 'far.echo',
        arguments: { message: '{{(index .steps "__proto__").output.text}}' },
        dependsOn: ['__proto__'],
      },
    ];
    await using kit = await composing([composite(steps)]);
    const given = JSON.parse('{"__proto__": {"polluted": true}}') as JsonObject;
    expect((await kit.ask('flow', given)).output).toEqual({ text: 'x' });
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('cannot make an expansion exceed its limit', async () => {
    const doubling = '{{ $x := .params.x }}{{ range .params.list }}{{ $x = print $x $x }}{{ end }}{{ len $x }}';
    const wide = composite([
      {
        id: 'a',
        tool: 'far.mirror',
        arguments: Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`k${index}`, '{{.params.x}}'])),
      },
    ]);
    await using kit = await composing([
      { ...composite([{ id: 'a', tool: 'far.echo', arguments: { message: doubling } }]), name: 'double' },
      wide,
    ]);
    const double = await kit.ask('double', { x: 'x'.repeat(1000), list: Array.from({ length: 60 }, () => 1) });
    expect(double.text).toMatch(/^Workflow execution failed: step a: template: /);
    expect((await kit.ask('flow', { x: 'x'.repeat(MB) })).text).toMatch(/expanded values are larger than/);
  });
});

describe('a tool with large results', () => {
  proves('choice.composite.bounded', 'fails the step that exceeds the byte limit of a workflow', async () => {
    const big = 'x'.repeat(4 * MB);
    const far = farServer().tool('big', () => text(big));
    const step = { id: 'l', type: 'forEach', collection: '{{json .params.list}}', step: { tool: 'far.big' } };
    const answer = { output: { properties: { done: { type: 'string', value: '{{.steps.l.status}}' } } } };
    await using kit = await composing([composite([step], answer)], { far });
    const list = (count: number) => ({ list: Array.from({ length: count }, () => 1) });
    expect((await kit.ask('flow', list(12))).output).toEqual({ done: 'completed' });
    expect((await kit.ask('flow', list(40))).text).toMatch(/results of this workflow are larger than 67108864 bytes/);
  });

  proves('choice.composite.bounded', 'leaks no memory over a thousand calls in ten parallel workflows', async () => {
    const far = farServer().tool('some', () => text('x'.repeat(2048)));
    const step = {
      id: 'l',
      type: 'forEach',
      collection: '{{json .params.list}}',
      maxIterations: 1000,
      maxParallel: 50,
      step: { tool: 'far.some' },
    };
    const answer = { output: { properties: { n: { type: 'integer', value: '{{.steps.l.output.completed}}' } } } };
    await using kit = await composing([composite([step], answer)], { far });
    const list = Array.from({ length: 1000 }, (_, index) => index);
    const before = process.memoryUsage().heapUsed;
    const answers = await Promise.all(Array.from({ length: 10 }, () => kit.ask('flow', { list })));
    expect(answers.map(({ output }) => output)).toEqual(Array.from({ length: 10 }, () => ({ n: 1000 })));
    kit.far.received.length = 0;
    const grown = process.memoryUsage().heapUsed - before;
    expect(grown).toBeLessThan(400 * MB); // results, records and uncollected garbage, but no growth per call
  });
});

describe('a composite tool that calls itself', () => {
  it('through a tool that calls tools fails at once', async () => {
    const caller = definePlugin({
      address: 'test/caller',
      config: z.strictObject({}),
      apply(core) {
        core.hooks.shapeCatalog.tap('test/caller', (draft) => ({
          ...draft,
          tools: [
            ...draft.tools,
            {
              kind: 'tool',
              key: 'call_any',
              backend: 'test/caller',
              original: 'call_any',
              definition: encode({ name: 'call_any', inputSchema: { type: 'object' } }),
              shapedBy: [],
              async run(call) {
                const reply = await core.perform({ parent: call, name: String(call.arguments.tool), arguments: {} });
                return 'result' in reply ? resultFromValue(reply.result.value) : toolFailure(JSON.stringify(reply));
              },
            },
          ],
        }));
      },
    });
    const step = (id: string) => ({ id, tool: 'call_any', arguments: { tool: 'flow' } });
    await using kit = await composing([composite([step('a'), step('b'), step('c')])], { plugins: [caller] });
    const { isError, text: said } = await kit.ask('flow');
    expect(isError).toBe(true);
    expect(said).toMatch(/flow was called by one of its own steps/);
    expect(kit.events.filter(({ change }) => change === 'started')).toHaveLength(1);
  });
});

const emptyState = (id: string, note = '') => ({
  id,
  name: 'n',
  digest: 'd',
  startedMs: 0,
  params: { note },
  status: 'running' as const,
  steps: {},
  questions: {},
  answers: {},
  bytes: 0,
  retries: 0,
  skipsRest: false,
});

describe('suspended workflows that are never resumed', () => {
  proves(
    ['choice.composite.bounded', 'choice.share.workflows'],
    'are bounded in number and bytes, and expire',
    async () => {
      let nowMs = 0;
      const limits = compositeConfig.parse({}).waiting;
      expect(limits).toEqual({
        workflows: 1_000,
        workflowsPerCaller: 100,
        bytes: 64 * MB,
        bytesPerCaller: 48 * MB,
      });
      const waiting = suspendInMemory(limits, () => nowMs);
      const state = emptyState;
      for (let index = 0; index < 1000; index++) await waiting.keep({ ...state(`w${index}`) }, 1000, `caller ${index}`);
      await expect(waiting.keep({ ...state('more') }, 1000, 'another')).rejects.toMatchObject({ code: 'STORE_FULL' });
      expect(await waiting.take('w5')).toMatchObject({ id: 'w5' });
      expect(await waiting.take('w5')).toBeUndefined();
      nowMs = 1001;
      expect(await waiting.take('w6')).toBeUndefined();
      await waiting.keep({ ...state('later') }, 1000, 'ada'); // the oldest ones were dropped
      await waiting.keep({ ...state('big', 'x'.repeat(40 * MB)) }, 1000, 'ada');
      await expect(waiting.keep({ ...state('bigger', 'x'.repeat(60 * MB)) }, 1000, 'ada')).rejects.toMatchObject({
        code: 'STORE_FULL',
      });

      // the caller with the most loses its oldest; the limit per caller drops the caller's own
      const shared = suspendInMemory(
        { workflows: 4, workflowsPerCaller: 3, bytes: 2_000, bytesPerCaller: 1_500 },
        () => nowMs,
      );
      for (const id of ['e1', 'e2', 'e3', 'e4']) await shared.keep({ ...state(id) }, 1000, 'eve');
      expect(await shared.take('e1')).toBeUndefined();
      await shared.keep({ ...state('a1') }, 1000, 'ada');
      await shared.keep({ ...state('b1') }, 1000, 'bob');
      expect(await shared.take('e2')).toBeUndefined();
      await shared.keep({ ...state('heavy', 'x'.repeat(1_200)) }, 1000, 'eve');
      await shared.keep({ ...state('large', 'x'.repeat(600)) }, 1000, 'ada');
      expect(await shared.take('heavy')).toBeUndefined();
      for (const id of ['a1', 'b1', 'large']) expect(await shared.take(id)).toMatchObject({ id });
    },
  );

  proves('choice.share.workflows', 'of one caller are bounded in a store too', async () => {
    const store = new MemoryStore({ maxKeys: 100, now: () => 0 });
    const limits = { ...compositeConfig.parse({}).waiting, workflowsPerCaller: 2 };
    const waiting = suspendInStore(store, 'w:', limits, () => 0);
    for (const id of ['e1', 'e2', 'e3']) await waiting.keep(emptyState(id), 1000, 'eve');
    await waiting.keep(emptyState('a1'), 1000, 'ada');
    expect(await waiting.take('e1')).toBeUndefined();
    for (const id of ['e2', 'e3', 'a1']) expect(await waiting.take(id)).toMatchObject({ id });
    for (const id of ['e4', 'e5']) await waiting.keep(emptyState(id), 1000, 'eve');
    expect(await waiting.take('e4')).toMatchObject({ id: 'e4' });
  });
});
