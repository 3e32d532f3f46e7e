import { getEventListeners } from 'node:events';
import { LATE, within } from '@toolmgr/core';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

describe('a wait with a limit', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const left = (signal: AbortSignal) => [vi.getTimerCount(), getEventListeners(signal, 'abort').length];
  const never = new Promise<never>(() => {});

  it('ends with the result or the failure of the work, and leaves no timer and no listener', async () => {
    const { signal } = new AbortController();
    expect(await within(1_000, signal, Promise.resolve(7))).toBe(7);
    await expect(within(1_000, signal, Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(left(signal)).toEqual([0, 0]);
  });

  it('is late after its time, not before, and leaves nothing', async () => {
    const { signal } = new AbortController();
    let result: unknown;
    void within(1_000, signal, never).then((value) => {
      result = value;
    });
    await vi.advanceTimersByTimeAsync(999);
    expect(result).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(result).toBe(LATE);
    expect(left(signal)).toEqual([0, 0]);
  });

  it('rejects with the reason of its signal, also of one that has aborted before', async () => {
    const controller = new AbortController();
    const waiting = within(1_000, controller.signal, never);
    controller.abort(new Error('stopped'));
    await expect(waiting).rejects.toThrow('stopped');
    await expect(within(1_000, controller.signal, never)).rejects.toThrow('stopped');
    expect(left(controller.signal)).toEqual([0, 0]);
  });

  it('ignores what the work does later: its failure is not unhandled', async () => {
    const { promise, reject } = Promise.withResolvers<never>();
    const waiting = within(10, undefined, promise);
    await vi.advanceTimersByTimeAsync(10);
    expect(await waiting).toBe(LATE);
    const unhandled = vi.fn();
    process.once('unhandledRejection', unhandled);
    reject(new Error('too late'));
    vi.useRealTimers();
    await new Promise((resolve) => setImmediate(resolve));
    process.removeListener('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });

  it('can be longer than a timer of Node', async () => {
    const waiting = within(Number.POSITIVE_INFINITY, undefined, never);
    const first = Promise.race([waiting, vi.advanceTimersByTimeAsync(1_000).then(() => 'waits')]);
    expect(await first).toBe('waits');
  });
});
