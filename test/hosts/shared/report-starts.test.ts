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

it('a backend that fails again and again is reported once, and again when it is ready', async () => {
  const cause = { category: 'exit', message: 'it ended' } as BackendState['cause'];
  const states = new Map<string, Partial<BackendState>>();
  const set = (name: string, state: Partial<BackendState>) =>
    void states.set(name, { backend: { name } as BackendState['backend'], ...state });
  const gateway = {
    backends: () => [...states.values()] as BackendState[],
    catalog: () => ({ visible: () => [{ backend: 'program' }, { backend: 'url' }] }) as never,
    settled: () => Promise.resolve(),
  };
  const lines: string[] = [];
  const stop = new AbortController();
  const say = (line: string) => lines.push(line);
  set('program', { status: 'unknown', startingSinceMs: Date.now() });
  set('url', { status: 'unavailable', cause }); // the host lists it as unavailable
  set('fine', { status: 'ready' });
  reportStarts({ gateway: () => gateway, say, signal: stop.signal, lastWords: () => ['a line'], saysRecoveries: true });
  await vi.advanceTimersByTimeAsync(4_000);
  set('program', { status: 'unavailable', cause });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(lines.splice(0)).toEqual([
    'still starting: program (3 s)',
    'program did not start in 4 s: it ended',
    '  a line',
  ]);

  set('again', { status: 'unknown', startingSinceMs: Date.now() });
  await vi.advanceTimersByTimeAsync(4_000);
  set('again', { status: 'unavailable', cause, startingSinceMs: Date.now() }); // it failed, and is tried again at once
  await vi.advanceTimersByTimeAsync(30_000);
  expect(lines.splice(0)).toEqual(['still starting: again (3 s)', 'again did not start in 4 s: it ended', '  a line']);

  for (const _retry of [1, 2]) {
    set('program', { status: 'unavailable', cause, startingSinceMs: Date.now() });
    await vi.advanceTimersByTimeAsync(15_000);
    set('program', { status: 'unavailable', cause });
    await vi.advanceTimersByTimeAsync(30_000);
  }
  expect(lines.splice(0)).toEqual([]);

  set('program', { status: 'ready' });
  set('url', { status: 'ready' });
  await vi.advanceTimersByTimeAsync(2_000);
  expect(lines.splice(0)).toEqual(['program is ready, 1 tool', 'url is ready, 1 tool']);

  set('url', { status: 'unavailable', cause });
  await vi.advanceTimersByTimeAsync(1_000);
  set('url', { status: 'unknown', startingSinceMs: Date.now() }); // another configuration
  await vi.advanceTimersByTimeAsync(4_000);
  expect(lines).toEqual(['still starting: url (3 s)']);
  stop.abort();
});
