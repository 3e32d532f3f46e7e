import type { BackendState } from '@toolmgr/core';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { reportStarts } from '../../../hosts/shared/report-starts.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

it('a slow start that ended before the host lists all backends is not reported again, a later end is', async () => {
  const backends = new Map<string, Partial<BackendState>>();
  const set = (name: string, state: Partial<BackendState>) =>
    void backends.set(name, { backend: { name } as BackendState['backend'], ...state });
  const { promise, resolve: settle } = Promise.withResolvers<void>();
  const gateway = {
    backends: () => [...backends.values()] as BackendState[],
    catalog: () => ({ visible: () => [{ backend: 'late' }] }) as never,
    settled: () => promise,
  };
  const lines: string[] = [];
  const stop = new AbortController();
  for (const name of ['early', 'broken', 'late', 'last']) set(name, { status: 'unknown', startingSinceMs: Date.now() });
  reportStarts({ gateway: () => gateway, say: (line) => lines.push(line), signal: stop.signal, everyMs: 60_000 });
  await vi.advanceTimersByTimeAsync(4_000);
  expect(lines.splice(0)).toEqual(['still starting: early (3 s), broken (3 s), late (3 s), last (3 s)']);

  set('early', { status: 'ready' });
  set('broken', { status: 'unavailable', cause: { category: 'exit', message: 'it ended' } as BackendState['cause'] });
  await vi.advanceTimersByTimeAsync(2_000);
  set('last', { status: 'ready' });
  settle(); // the host lists the backends here
  await vi.advanceTimersByTimeAsync(2_000);
  expect(lines).toEqual([]);

  set('late', { status: 'ready' });
  await vi.advanceTimersByTimeAsync(2_000);
  expect(lines).toEqual(['late is ready after 8 s, 1 tool']);
  stop.abort();
});
