import { backOffMs } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';

describe('a back-off', () => {
  const bounds = { firstMs: 500, maxMs: 30_000 };

  it('doubles from its first pause up to its longest', () => {
    const pauses = [1, 2, 3, 6, 7, 8, 5_000].map((attempt) => backOffMs(attempt, bounds, 1));
    expect(pauses).toEqual([500, 1_000, 2_000, 16_000, 30_000, 30_000, 30_000]);
  });

  it('is shortened by chance, by half at most', () => {
    expect([0, 0.5].map((chance) => backOffMs(2, bounds, chance))).toEqual([500, 750]);
    for (let n = 0; n < 1_000; n++) {
      const ms = backOffMs(9, bounds);
      expect(ms >= 15_000 && ms <= 30_000).toBe(true);
    }
  });

  it('has no jitter where none is wanted', () => {
    expect(backOffMs(3, { ...bounds, jitter: 0 }, 0)).toBe(2_000);
  });
});
