import { beforeEach, describe, expect, it } from 'vitest';
import { createOutageLog, type OutageLines } from '../../../core/extension/log-outage.ts';
import { pluginCore } from '../../support/plugin-core.ts';

describe('the log of an outage', () => {
  let core = pluginCore();
  const outageLog = (lines: Partial<OutageLines> = {}) =>
    createOutageLog(core, { began: 'it is away', over: 'it is back', ...lines });

  beforeEach(() => {
    core = pluginCore();
  });

  it('writes nothing while everything works', () => {
    const outage = outageLog();
    outage.over();
    expect([outage.isOn, core.lines]).toEqual([false, []]);
  });

  it('writes one line when an outage begins and one with the count and the time when it is over', () => {
    const outage = outageLog({ fields: { address: 'a:1' } });
    outage.failed(new Error('refused', { cause: new Error('ECONNREFUSED') }), { calls: 'pass' });
    core.clock.nowMs += 3_600_000;
    outage.failed('again');
    expect(outage.isOn).toBe(true);
    outage.over({ passed: 7 });
    outage.over();
    expect(outage.isOn).toBe(false);
    expect(core.lines).toEqual([
      {
        level: 'warn',
        message: 'it is away',
        fields: { address: 'a:1', calls: 'pass', cause: 'refused <- ECONNREFUSED' },
      },
      { level: 'info', message: 'it is back', fields: { address: 'a:1', passed: 7, failures: 2, forMs: 3_600_000 } },
    ]);
  });

  it('counts each outage from nothing', () => {
    const outage = outageLog({ counted: 'lost' });
    for (const times of [3, 2]) {
      outage.failed('gone', {}, times);
      outage.over();
    }
    expect(core.lines.map(({ fields }) => fields.lost)).toEqual([undefined, 3, undefined, 2]);
  });

  it('repeats the first line only where it is asked to, with the count and the time so far', () => {
    const outage = outageLog({ level: 'error', overLevel: 'warn', repeatMs: 60_000 });
    for (const aheadMs of [0, 59_999, 1, 59_999, 1]) {
      core.clock.nowMs += aheadMs;
      outage.failed('gone');
    }
    outage.over();
    expect(core.lines.map(({ level, fields }) => [level, fields.failures, fields.forMs])).toEqual([
      ['error', undefined, undefined],
      ['error', 3, 60_000],
      ['error', 5, 120_000],
      ['warn', 5, 120_000],
    ]);
  });
});
