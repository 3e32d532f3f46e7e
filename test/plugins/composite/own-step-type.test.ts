import { definePlugin, type StepType } from '@toolmgr/core';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { composing, composite } from '../../support/composites.ts';
import { proves } from '../../support/proves.ts';

const options = z.strictObject({ first: z.string(), second: z.string(), tool: z.string() });

/** Asks the user, then calls a tool with two joined texts. */
const join: StepType<typeof options> = {
  options,
  compile({ first, second, tool }, compiling) {
    if (first === second) compiling.problem(['second'], 'is the same as first');
    compiling.tool(tool);
    const texts = compiling.templates([first, second] as const as never, ['first']);
    return {
      async run({ data, callTool, elicit }) {
        const { action } = await elicit({ message: 'join?', schema: { type: 'object' } });
        if (action !== 'accept') throw new Error(`the user answered ${action}`);
        return callTool(tool, { message: (texts.render(data) as unknown as string[]).join('+') });
      },
    };
  },
};

const plugin = definePlugin({
  address: 'test/join',
  config: z.strictObject({}),
  apply: (core) => core.slots.stepTypes.register('join', join),
});

const step = (more: object = {}) => ({
  id: 'j',
  type: 'join',
  first: '{{.params.x}}',
  second: 'b',
  tool: 'far.echo',
  ...more,
});

describe('a step type of a plugin', () => {
  proves(
    'choice.composite.own-step-types',
    'is selected by its type, and uses templates, tools and elicitation like built-in types',
    async () => {
      await using kit = await composing([composite([step()])], { plugins: [plugin] });
      for (const era of ['2025-11-25', '2026-07-28'] as const) {
        const client = { era, capabilities: { elicitation: {} } };
        expect(
          (await kit.ask('flow', { x: 'a' }, { ...client, answer: () => ({ action: 'accept', content: {} }) })).output,
        ).toEqual({ text: 'a+b' });
        expect((await kit.ask('flow', { x: 'a' }, { ...client, answer: () => ({ action: 'decline' }) })).text).toBe(
          'Workflow execution failed: step j: the user answered decline',
        );
      }
    },
  );

  proves(
    'choice.composite.own-step-types',
    'is checked at the start by its own schema, and must be registered',
    async () => {
      const refused = (more: object, plugins = [plugin]) =>
        expect(composing([composite([step(more)])], { plugins })).rejects;
      await refused({ second: '{{.params.x}}' }).toThrow(
        'composite/engine: compositeTools[0].steps[0].second: is the same as first',
      );
      await refused({ thrid: 'x' }).toThrow(
        /compositeTools\[0\]\.steps\[0\]\.thrid: a step of type join has no key "thrid"/,
      );
      await refused({ first: '{{.steps.gone.output}}' }).toThrow(/no step has the id "gone"/);
      await refused({}, []).toThrow(/slot stepTypes has no join.*known: elicitation, forEach, tool/);
    },
  );
});
