import { afterEach, describe, expect, it, vi } from 'vitest';
import { createHeartbeat } from '../../../core/timing/shared-timers.ts';

afterEach(() => vi.useRealTimers());

describe('the heartbeat of an endpoint', () => {
  it('calls open streams and waiting calls alike, until they are deleted or it stops', () => {
    vi.useFakeTimers();
    const beats: string[] = [];
    const [stream, call] = ['stream', 'call'].map((name) => ({ beat: () => void beats.push(name) }));
    const heartbeat = createHeartbeat(1_000, () => {});
    heartbeat.streams.add(stream as { beat(): void });
    heartbeat.calls.add(call as { beat(): void });
    vi.advanceTimersByTime(1_000);
    expect(beats.sort()).toEqual(['call', 'stream']);
    heartbeat.calls.delete(call as { beat(): void });
    vi.advanceTimersByTime(1_000);
    expect(beats).toHaveLength(3);
    heartbeat.stop();
    vi.advanceTimersByTime(10_000);
    expect(beats).toHaveLength(3);
  });

  it('calls what moves from the calls to the streams within a beat once, and reports what throws', () => {
    vi.useFakeTimers();
    const failures: unknown[] = [];
    const heartbeat = createHeartbeat(1_000, (cause) => void failures.push(cause));
    let beats = 0;
    const moving = {
      beat() {
        beats++;
        heartbeat.calls.delete(moving);
        heartbeat.streams.add(moving);
        throw new Error('broken');
      },
    };
    heartbeat.calls.add(moving);
    vi.advanceTimersByTime(1_000);
    expect([beats, failures.length, heartbeat.streams.size]).toEqual([1, 1, 1]);
    vi.advanceTimersByTime(1_000);
    expect(beats).toBe(2);
    heartbeat.stop();
  });
});
