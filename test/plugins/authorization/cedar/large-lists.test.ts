import { describe, expect, it } from 'vitest';
import { cpuClock } from '../../../support/cpu-clock.ts';
import { proves } from '../../../support/proves.ts';
import { callerOf, entryOf, judge } from './support.ts';

const TOOLS = Array.from({ length: 5_000 }, (_, index) =>
  entryOf('tool', `${index % 2 === 0 ? 'open' : 'shut'}_${index}`),
);
/** Ten policies; the last one reads every name, so that policies distinguish all tools. */
const BY_NAME = [
  ...Array.from(
    { length: 9 },
    (_, index) => `permit(principal in THVGroup::"g${index}", action == Action::"get_prompt", resource);`,
  ),
  'permit(principal in THVGroup::"dev", action == Action::"call_tool", resource) when { resource.name like "open_*" };',
];
const DEV = { groups: ['dev'] };

describe('a list of 5,000 tools', () => {
  proves('choice.authorization.large-lists', 'is filtered without blocking the event loop, and cached', async () => {
    const { shown } = await judge(BY_NAME);
    let turns = 0;
    let isDone = false;
    const others = () => {
      turns++;
      if (!isDone) setImmediate(others);
    };
    setImmediate(others);
    const [first, second] = await Promise.all([shown(TOOLS, callerOf('ada', DEV)), shown(TOOLS, callerOf('ada', DEV))]);
    isDone = true;
    expect(first).toHaveLength(2_500);
    expect(second).toBe(first);
    expect(turns).toBeGreaterThanOrEqual(5_000 / 50);
    const usedMs = cpuClock();
    for (let n = 0; n < 100; n++) expect(await shown(TOOLS, callerOf('ada', { ...DEV, jti: `${n}` }))).toBe(first);
    // 100 lists, each with a new token of the same caller: far faster than one filtering
    expect(usedMs()).toBeLessThan(500);
  });

  it('evaluates policies once for tools that they do not distinguish', async () => {
    const { shown } = await judge([
      'permit(principal in THVGroup::"dev", action, resource) unless { resource == Tool::"open_0" };',
    ]);
    const usedMs = cpuClock();
    expect(await shown(TOOLS, callerOf('ada', DEV))).toHaveLength(4_999);
    expect(usedMs()).toBeLessThan(1_000); // two evaluations instead of 5,000
  });

  it('is filtered again after a catalogue change, and separately for different callers', async () => {
    const { shown } = await judge(BY_NAME);
    const few = TOOLS.slice(0, 10);
    expect(await shown(few, callerOf('ada', DEV))).toHaveLength(5);
    expect(await shown(few, callerOf('ada', { groups: ['g1'] }))).toHaveLength(0);
    expect(await shown(TOOLS.slice(0, 4), callerOf('ada', DEV))).toHaveLength(2);
  });
});
