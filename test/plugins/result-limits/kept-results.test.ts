import type { Caller, Store } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { resultLimitsConfig } from '../../../plugins/result-limits/config.ts';
import { createKeptResults } from '../../../plugins/result-limits/kept-results.ts';

/** A store that applies what it is sent at once, and answers later. */
function slowStore() {
  const values = new Map<string, string>();
  const answer = () => new Promise<void>((resolve) => setImmediate(resolve));
  const store = {
    set(key: string, value: string) {
      values.set(key, value);
      return answer();
    },
    delete(key: string) {
      values.delete(key);
      return answer();
    },
  } satisfies Partial<Store>;
  return { values, store };
}

describe('kept results', () => {
  it('of calls at one time leave nothing in the store that is not counted', async () => {
    const { values, store } = slowStore();
    const core = { slots: { stores: { get: () => store } }, log: () => {}, now: () => 0 };
    const kept = createKeptResults(core as never, resultLimitsConfig.parse({ bytesPerCaller: 65_536 }));
    kept.start();
    const result = Buffer.alloc(40_000, 'x');
    const keep = () => kept.keep(result, { key: 'ada' } as Caller);
    const outcomes = [];
    for (let round = 0; round < 5; round++) outcomes.push(...(await Promise.all(Array.from({ length: 10 }, keep))));
    const bytes = [...values.values()].reduce((sum, { length }) => sum + length, 0);
    expect(kept.now()).toEqual({ results: values.size, bytes });
    expect(bytes).toBeGreaterThan(0);
    expect(outcomes.filter((outcome) => 'because' in outcome)).toContainEqual({ because: 'there is no space for it' });
  });
});
