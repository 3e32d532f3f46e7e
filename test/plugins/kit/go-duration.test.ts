import { durationMs, goDuration } from '@toolmgr/plugins/kit/settings';
import { describe, expect, it } from 'vitest';
import { proves } from '../../support/proves.ts';

describe('Go durations', () => {
  const read = [
    ['5m', 300_000],
    ['1h30m', 5_400_000],
    ['250ms', 250],
    ['1.5s', 1500],
    ['.5s', 500],
    ['1s500ms', 1500],
    ['2000us', 2],
    ['2000µs', 2],
    ['2000μs', 2],
    ['1000000ns', 1],
    ['0', 0],
    ['0s', 0],
  ] as const;
  for (const [text, ms] of read) {
    proves('vmcp.notation.go-duration', `read ${text} as ${ms} ms`, () => {
      expect(durationMs(text)).toBeCloseTo(ms, 9);
    });
  }

  it.each(['', '5', 'm', '5 m', '-5m', '+5m', '1d', '5M', '1h 30m', '1e3s', '5m!', '９s', `${'1'.repeat(400)}h`])(
    'refuses %j',
    (text) => {
      expect(durationMs(text)).toBeUndefined();
    },
  );

  proves('vmcp.notation.go-duration', 'are one or more groups of number and unit, of any of the seven units', () => {
    for (const unit of ['ns', 'us', 'µs', 'ms', 's', 'm', 'h']) {
      expect(durationMs(`2${unit}`)).toBeGreaterThan(0);
      expect(durationMs(`2${unit}3h`)).toBeGreaterThan(durationMs('3h') ?? 0);
    }
    expect(durationMs('5')).toBeUndefined();
  });

  proves('choice.general.durations-at-edge', 'become whole milliseconds, rounded up, above zero', () => {
    expect(goDuration.parse('1us')).toBe(1);
    expect(goDuration.parse('1500us')).toBe(2);
    expect(goDuration.safeParse('0s').error?.issues[0]?.message).toBe('expected a duration above zero');
    expect(goDuration.safeParse('soon').error?.issues[0]?.message).toMatch(/expected a Go duration such as 30s/);
    expect(goDuration.safeParse(30).success).toBe(false);
  });
});
