import { afterEach, beforeEach, describe, expect, vi } from 'vitest';
import { ListRefresh } from '../../../core/backend/lists/list-refresh.ts';
import type { SessionHolder } from '../../../core/backend/sessions/session-holder.ts';
import { proves } from '../../support/proves.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Changes at given times, and when which lists were read. */
async function readsOf(changes: Readonly<Record<number, 'tools' | 'prompts'>>, coalesceMs = 150, readMs = 5) {
  const reads: [number, string][] = [];
  const startedAt = performance.now();
  const relists = new ListRefresh({
    coalesceMs,
    async read(_holder, kinds) {
      reads.push([Math.round(performance.now() - startedAt), [...kinds].join('+')]);
      await new Promise((resolve) => setTimeout(resolve, readMs));
      return true;
    },
    unchanged() {},
    failed: (cause) => {
      throw cause;
    },
  });
  const holder = { about: { capabilityClass: '' }, connection: {} } as SessionHolder;
  for (const [at, kind] of Object.entries(changes)) setTimeout(() => relists.add(holder, [kind]), Number(at));
  await vi.advanceTimersByTimeAsync(5_000);
  relists.stop();
  return reads;
}

describe('changed lists', () => {
  proves('choice.backend.prompt-changes', 'are read soon after the first word of a change', async () => {
    expect(await readsOf({ 0: 'tools' })).toEqual([[15, 'tools']]);
  });

  proves('choice.backend.prompt-changes', 'are read within the time in which changes are told as one', async () => {
    for (const second of [1, 20, 60, 100, 130]) {
      const reads = await readsOf({ 0: 'tools', [second]: 'prompts' });
      expect(reads.at(-1)?.[0], `a change after ${second} ms`).toBeLessThan(15 + 5 + 150);
      expect(reads.map(([, kinds]) => kinds).join('+')).toBe('tools+prompts');
    }
  });

  proves(
    'choice.backend.prompt-changes',
    'of a backend that never rests are read twice per that time at most',
    async () => {
      const changes = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [n * 10, 'tools' as const]));
      expect((await readsOf(changes)).length).toBeLessThanOrEqual(2 * (3_000 / 150) + 2);
    },
  );

  proves(
    'choice.backend.one-notification',
    'are not repeated for a session that reports a change after all of its class were notified',
    async () => {
      const told: unknown[] = [];
      const findings = [true, false, false];
      const relists = new ListRefresh({
        coalesceMs: 150,
        read: async () => findings.shift() === true,
        unchanged: (holder, kinds) => void told.push(holder, ...kinds),
        failed() {},
      });
      const [base, own] = [
        { about: { capabilityClass: '' }, connection: {} } as SessionHolder,
        { about: { capabilityClass: '' }, connection: {} } as SessionHolder,
      ];
      relists.add(base, ['tools']);
      setTimeout(() => relists.add(own, ['tools']), 40);
      await vi.advanceTimersByTimeAsync(1_000);
      expect(told).toEqual([]);
      relists.add(own, ['tools']);
      await vi.advanceTimersByTimeAsync(1_000);
      expect(told).toEqual([own, 'tools']);
      relists.stop();
    },
  );
});
