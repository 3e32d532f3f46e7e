import type { JsonObject } from '@toolmgr/core';
import { text } from '@toolmgr/core/testing';
import { describe, expect, it } from 'vitest';
import { composing, composite, farServer } from '../../support/composites.ts';
import { proves } from '../../support/proves.ts';

const loop = (
  more: object = {},
  step: object = { tool: 'far.echo', arguments: { message: '{{.forEach.index}}:{{.forEach.item}}' } },
): JsonObject => ({
  id: 'loop',
  type: 'forEach',
  collection: '{{ json .params.list }}',
  step: step as JsonObject,
  ...more,
});

async function looped(step: JsonObject, list: unknown, far = farServer()) {
  await using kit = await composing([composite([step])], { far });
  return await kit.ask('flow', { list } as JsonObject);
}

describe('a forEach step', () => {
  proves(
    ['vmcp.composite.for-each.collection', 'vmcp.composite.for-each.item-var', 'choice.composite.for-each-output'],
    'calls its tool for each item and outputs one record per item, in order',
    async () => {
      expect((await looped(loop(), ['a', 'b'])).output).toEqual({
        iterations: [
          { index: 0, item: 'a', status: 'completed', output: { text: '0:a' } },
          { index: 1, item: 'b', status: 'completed', output: { text: '1:b' } },
        ],
        count: 2,
        completed: 2,
        failed: 0,
      });
      expect((await looped(loop(), [])).output).toEqual({ iterations: [], count: 0, completed: 0, failed: 0 });
      const named = loop({ itemVar: 'city' }, { tool: 'far.echo', arguments: { message: '{{.forEach.city.name}}' } });
      expect((await looped(named, [{ name: 'Rome' }])).output).toMatchObject({
        iterations: [{ output: { text: 'Rome' } }],
      });
      for (const list of [{ a: 1 }, 'text', 5, null]) {
        expect((await looped(loop(), list)).text).toMatch(
          /^Workflow execution failed: step loop: collection is not a JSON array/,
        );
      }
    },
  );

  proves(
    ['vmcp.composite.for-each.max-iterations', 'vmcp.composite.for-each.max-iterations-cap'],
    'fails on more items than maxIterations instead of dropping some',
    async () => {
      const list = (count: number) => Array.from({ length: count }, (_, index) => index);
      expect((await looped(loop(), list(100))).output).toMatchObject({ completed: 100 });
      expect((await looped(loop(), list(101))).text).toMatch(
        /collection has 101 items, more than maxIterations \(100\)/,
      );
      expect((await looped(loop({ maxIterations: 2 }), list(3))).text).toMatch(/more than maxIterations \(2\)/);
      expect((await looped(loop({ maxIterations: 1000, maxParallel: 50 }), list(1000))).output).toMatchObject({
        completed: 1000,
      });
      expect((await looped(loop({ maxIterations: 1000 }), list(1001))).text).toMatch(
        /more than maxIterations \(1000\)/,
      );
    },
  );

  proves(
    'vmcp.composite.for-each.max-parallel',
    'runs ten iterations in parallel, or maxParallel, at most fifty',
    async () => {
      const most = async (more: object, expected: number) => {
        let running = 0;
        let peak = 0;
        let release = (): void => {};
        const gate = new Promise<void>((open) => {
          release = open;
        });
        const far = farServer().tool('meet', async () => {
          peak = Math.max(peak, ++running);
          if (running === expected) release();
          await gate;
          running--;
          return text('met');
        });
        const { isError } = await looped(
          loop(more, { tool: 'far.meet' }),
          Array.from({ length: 60 }, () => 1),
          far,
        );
        expect(isError).toBe(false);
        expect(peak).toBe(expected);
      };
      await most({}, 10);
      await most({ maxParallel: 3 }, 3);
      await most({ maxParallel: 500 }, 50);
    },
  );

  it('ends at the first failure unless failures are tolerated', async () => {
    const picky = () =>
      farServer().tool('picky', ({ arguments: { n } }) =>
        n === 'b' ? { content: [{ type: 'text', text: 'not b' }], isError: true } : text(String(n)),
      );
    const step = { tool: 'far.picky', arguments: { n: '{{.forEach.item}}' } };
    const one = loop({ maxParallel: 1 }, step);
    const far = picky();
    expect((await looped(one, ['a', 'b', 'c'], far)).text).toMatch(
      /^Workflow execution failed: .*tool far\.picky in step loop: not b/,
    );
    expect(far.received.filter(({ method }) => method === 'tools/call')).toHaveLength(2);
    for (const tolerant of [
      loop({ onError: { action: 'continue' } }, step),
      loop({}, { ...step, onError: { action: 'continue' }, defaultResults: { text: '-' } }),
    ]) {
      const { output } = await looped(tolerant, ['a', 'b', 'c'], picky());
      expect(output).toMatchObject({ count: 3, completed: 2, failed: 1 });
      expect((output?.iterations as JsonObject[])[1]).toMatchObject({
        status: 'failed',
        error: expect.stringContaining('not b'),
      });
    }
  });

  it('applies the condition, timeout and retries of its inner step to each item', async () => {
    const tries = new Map<string, number>();
    const far = farServer()
      .tool('flaky', ({ arguments: { n } }) => {
        const count = (tries.get(String(n)) ?? 0) + 1;
        tries.set(String(n), count);
        return count < 2 ? { content: [{ type: 'text', text: 'busy' }], isError: true } : text(`${n} at ${count}`);
      })
      .tool('never', () => new Promise<never>(() => {}));
    const flaky = {
      tool: 'far.flaky',
      arguments: { n: '{{.forEach.item}}' },
      condition: '{{ne .forEach.item "skip"}}',
      onError: { action: 'retry', retryCount: 1, retryDelay: '1ms' },
    };
    expect((await looped(loop({}, flaky), ['a', 'skip', 'b'], far)).output).toMatchObject({
      iterations: [{ output: { text: 'a at 2' } }, { status: 'skipped', output: {} }, { output: { text: 'b at 2' } }],
      completed: 2,
    });
    expect((await looped(loop({}, { tool: 'far.never', timeout: '20ms' }), ['a'], far)).text).toMatch(
      /timed out after 20 ms/,
    );
  });
});
