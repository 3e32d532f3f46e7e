import { nearest } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { cpuClock } from '../../support/cpu-clock.ts';
import fc from '../../support/fast-check.ts';

describe('the nearest of many names', () => {
  it.each([100, 60, 1_000])('takes a bounded time for a wrong word of %i characters', (length) => {
    const names = Array.from({ length: 10_000 }, (_, n) => `backend_${'some_tool_'.repeat(9)}${n}`);
    const words = [`backend_${'some_toll_'.repeat(100)}`.slice(0, length), 'x'.repeat(length)];
    for (const word of words) nearest(word, names.slice(0, 100));
    const usedMs = cpuClock();
    for (const word of words) nearest(word, names);
    expect(usedMs()).toBeLessThan(300);
  });

  it('is the one with the fewest edits, at most a third of the longer word', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'C', '_'), maxLength: 7 });
    fc.assert(
      fc.property(word, fc.array(word, { maxLength: 6 }), (asked, candidates) => {
        const edits = candidates.map((each) => distance(asked.toLowerCase(), each.toLowerCase()));
        const allowed = edits.map((count, at) =>
          count <= Math.max(asked.length, candidates[at]?.length ?? 0) / 3 ? count : Number.POSITIVE_INFINITY,
        );
        const least = Math.min(...allowed);
        const expected = Number.isFinite(least) ? candidates[allowed.indexOf(least)] : undefined;
        expect(nearest(asked, candidates)).toBe(expected);
      }),
      { numRuns: 2_000 },
    );
  });
});

function distance(a: string, b: string): number {
  if (a === '' || b === '') return a.length + b.length;
  const substitute = distance(a.slice(1), b.slice(1)) + (a[0] === b[0] ? 0 : 1);
  if (a[0] === b[0]) return substitute;
  return Math.min(substitute, distance(a.slice(1), b) + 1, distance(a, b.slice(1)) + 1);
}
