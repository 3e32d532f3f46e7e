import { setTimeout as sleep } from 'node:timers/promises';
import type { ObjectKey } from '@toolmgr/plugins/kit/kubernetes';
import { describe, expect, test } from 'vitest';
import { createWorkQueue, type WorkQueueOptions } from '../../../../hosts/operator/machinery/work-queue.ts';
import { until } from '../../../support/until.ts';

const key = (name: string): ObjectKey => ({ namespace: 'team', name });

function recordingQueue(options: Partial<WorkQueueOptions> & Pick<WorkQueueOptions, 'work'>) {
  const started: string[] = [];
  const queue = createWorkQueue({
    concurrency: 2,
    ...options,
    work(each) {
      started.push(each.name);
      return options.work(each);
    },
  });
  return { queue, started };
}

describe('the work queue', () => {
  test('works on a key once, however often it was added before the start', async () => {
    const { queue, started } = recordingQueue({ work: async () => {} });
    for (const name of ['a', 'b', 'a', 'a', 'b']) queue.add(key(name));
    expect(queue.depth).toBe(2);
    expect(started).toEqual([]);
    queue.start();
    await until(() => queue.isIdle);
    expect(started).toEqual(['a', 'b']);
  });

  test('namespaces take turns: one with thousands of objects delays another by one of them', async () => {
    const { queue, started } = recordingQueue({ concurrency: 1, work: async () => {} });
    for (let at = 0; at < 3_000; at++) queue.add({ namespace: 'noisy', name: `n${at}` });
    for (const name of ['a', 'b']) queue.add({ namespace: 'quiet', name });
    expect(queue.depth).toBe(3_002);
    queue.start();
    await until(() => queue.isIdle);
    expect(started.slice(0, 5)).toEqual(['n0', 'a', 'n1', 'b', 'n2']);
    expect(started).toHaveLength(3_002);
    expect(started.slice(5)).toEqual(Array.from({ length: 2_997 }, (_, at) => `n${at + 3}`));
  });

  test('works on a key once more when it was added meanwhile, never twice at a time', async () => {
    const gate = Promise.withResolvers<void>();
    let running = 0;
    let most = 0;
    const { queue, started } = recordingQueue({
      concurrency: 8,
      async work() {
        running += 1;
        most = Math.max(most, running);
        await gate.promise;
        running -= 1;
      },
    });
    queue.start();
    queue.add(key('a'));
    for (let times = 0; times < 5; times++) queue.add(key('a'));
    expect(started).toEqual(['a']);
    gate.resolve();
    await until(() => queue.isIdle && started.length === 2);
    expect(most).toBe(1);
  });

  test('works on as many keys at a time as it may', async () => {
    const gate = Promise.withResolvers<void>();
    const { queue, started } = recordingQueue({ concurrency: 3, work: () => gate.promise });
    queue.start();
    for (let at = 0; at < 3_000; at++) queue.add(key(`k${at}`));
    expect(started).toHaveLength(3);
    expect(queue.depth).toBe(2_997);
    gate.resolve();
    await until(() => queue.isIdle);
    expect(new Set(started).size).toBe(3_000);
    expect(started.slice(0, 4)).toEqual(['k0', 'k1', 'k2', 'k3']);
  });

  test('tries a failed key again after pauses that grow, while other keys are worked on', async () => {
    const pauses: number[] = [];
    let failures = 0;
    let requeues = 0;
    const { queue, started } = recordingQueue({
      backOff: { firstMs: 10, maxMs: 60 },
      async work({ name }) {
        if (name === 'bad' && failures++ < 4) throw new Error('not yet');
      },
      done: (_, __, failure) => {
        if (failure !== undefined) pauses.push(failure.pauseMs);
      },
      requeued: () => {
        requeues += 1;
      },
    });
    queue.start();
    queue.add(key('bad'));
    queue.add(key('good'));
    await until(() => started.filter((name) => name === 'bad').length === 5);
    expect(started.indexOf('good')).toBe(1);
    expect(pauses).toHaveLength(4);
    for (const [at, most] of [10, 20, 40, 60].entries()) {
      expect(pauses[at]).toBeGreaterThanOrEqual(most / 2);
      expect(pauses[at]).toBeLessThanOrEqual(most);
    }
    expect(requeues).toBe(4);
  });

  test('an event starts a failed key at once, and the pending try is dropped', async () => {
    let mayFail = true;
    const { queue, started } = recordingQueue({
      backOff: { firstMs: 100, maxMs: 100 },
      async work() {
        if (mayFail) throw new Error('not yet');
      },
    });
    queue.start();
    queue.add(key('a'));
    await until(() => queue.isIdle);
    mayFail = false;
    queue.add(key('a'));
    await sleep(200);
    expect(started).toEqual(['a', 'a']);
  });

  test('works on a key again after the time that its work asked for; the earlier of two times counts', async () => {
    let left = 2;
    const { queue, started } = recordingQueue({
      work: async () => (left-- > 0 ? { againAfterMs: 20 } : undefined),
    });
    queue.start();
    queue.add(key('a'));
    await until(() => started.length === 3);
    await sleep(60);
    expect(started).toHaveLength(3);
  });

  test('slows down a key whose own work adds it each time', async () => {
    const { queue, started } = recordingQueue({
      burst: { count: 5, refillMs: 50 },
      async work(each) {
        queue.add(each);
      },
    });
    const startedMs = performance.now();
    queue.start();
    queue.add(key('restless'));
    await sleep(25);
    expect(started.length).toBeLessThanOrEqual(6 + (performance.now() - startedMs) / 50);
    await until(() => started.length >= 8);
    await queue.stop();
  });

  test('stops when the running work has ended, and starts nothing more', async () => {
    const gate = Promise.withResolvers<void>();
    const { queue, started } = recordingQueue({ concurrency: 1, work: () => gate.promise });
    queue.start();
    queue.add(key('a'));
    queue.add(key('b'));
    let isStopped = false;
    const stopping = queue.stop().then(() => {
      isStopped = true;
    });
    await sleep(10);
    expect(isStopped).toBe(false);
    gate.resolve();
    await stopping;
    queue.add(key('c'));
    expect(started).toEqual(['a']);
  });
});
