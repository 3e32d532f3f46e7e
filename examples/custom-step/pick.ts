import { definePlugin, type JsonValue, type StepType } from '@toolmgr/core';
import { z } from 'zod';

const ADDRESS = 'composite/pick';

const options = z.strictObject({
  from: z.string().describe('template that gives the JSON text of a list'),
  largest: z.string().describe('member of the items to compare'),
});

/** Picks the item of a list with the largest value of a member. */
const pick: StepType<typeof options> = {
  options,
  compile({ from, largest }, compiling) {
    if (from.trim() === '') compiling.problem(['from'], 'expected a template');
    const list = compiling.template(from, ['from']);
    return {
      run: async ({ data }) => ({ output: largestOf(JSON.parse(list.render(data)), largest) }),
    };
  },
};

/** Registers the step type `pick`. */
export default definePlugin({
  address: ADDRESS,
  stability: 'stable',
  summary: 'a step that picks the item of a list with the largest value of a member',
  config: z.strictObject({}),
  apply: (core) => core.slots.stepTypes.register('pick', pick),
});

/** An error fails the step; the caller gets its message. */
function largestOf(list: unknown, member: string): JsonValue {
  const items = z.array(z.record(z.string(), z.json())).min(1).parse(list);
  return items.reduce((best, item) => (Number(item[member]) > Number(best[member]) ? item : best)) as JsonValue;
}
