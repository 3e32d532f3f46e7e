import { throttledLine } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { pluginCore } from '../../support/plugin-core.ts';

describe('a throttled log line', () => {
  it('is written at once, then once a minute with the count and the latest fields', () => {
    const core = pluginCore();
    const line = throttledLine(core, 'dropped');
    for (const [aheadMs, id] of [
      [0, 1],
      [30_000, 2],
      [29_999, 3],
      [1, 4],
    ] as const) {
      core.clock.nowMs += aheadMs;
      line.add({ id });
    }
    expect(core.lines).toEqual([
      { level: 'warn', message: 'dropped', fields: { id: 1, count: 1 } },
      { level: 'warn', message: 'dropped', fields: { id: 4, count: 3 } },
    ]);
  });

  it('writes the rest on demand, and nothing when there is none', () => {
    const core = pluginCore();
    const line = throttledLine(core, 'dropped', { level: 'error', counted: 'events' });
    line.flush();
    line.add({}, 2);
    line.add({}, 5);
    line.flush();
    line.flush();
    expect(core.lines.map(({ level, fields }) => [level, fields.events])).toEqual([
      ['error', 2],
      ['error', 5],
    ]);
  });
});
