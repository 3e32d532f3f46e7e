import { backOffMs } from '@toolmgr/core';
import { keyText, type ObjectKey } from '@toolmgr/plugins/kit/kubernetes';
import type { Outcome } from './controller.ts';
import { createFairQueue } from './fair-queue.ts';

/** Keys to reconcile. Namespaces take turns. A key waits at most once and is worked on at most once at a time. */
export interface WorkQueue {
  /** Adds a key. While it is worked on, it is worked on once more. */
  add(key: ObjectKey): void;
  /** Begins to work. Keys that were added before wait until then. */
  start(): void;
  /** Keys that wait for a worker, without those that wait for their time. */
  readonly depth: number;
  /** Whether no key waits for a worker or is worked on. */
  readonly isIdle: boolean;
  /** Ends: no key is started any more. Resolves when the running ones have ended. */
  stop(): Promise<void>;
}

export interface WorkQueueOptions {
  /** Keys that are worked on at the same time. */
  readonly concurrency: number;
  /** @throws anything: the key is added again after a pause that doubles with each failure */
  work(key: ObjectKey): Promise<Outcome | void>;
  /** A key was worked on. `failure`: what it threw, and when it is tried again. */
  done?(key: ObjectKey, ms: number, failure?: { readonly cause: unknown; readonly pauseMs: number }): void;
  /** A key is added again after a failure or because its work asked for it. */
  requeued?(): void;
  readonly backOff?: typeof BACK_OFF;
  readonly burst?: typeof BURST;
}

const BACK_OFF = { firstMs: 100, maxMs: 300_000 };
/** How often one key may be worked on without a pause, and the pause that each further time costs. */
const BURST = { count: 20, refillMs: 500 };
/** Longest timer; a longer wait ends then, and the reconcile asks again. */
const LONGEST_MS = 24 * 3600_000;

/** Entries of keys that are gone are removed when there are so many. */
const SWEEP_AT = 1_000;

/** One key, from its first addition until nothing is known of it but success. */
interface Entry {
  readonly key: ObjectKey;
  state: 'idle' | 'waiting' | 'running';
  /** Added while it is worked on. */
  isAgain: boolean;
  failures: number;
  /** Starts that are left, and when this number was right. */
  left: number;
  leftAtMs: number;
  timer?: NodeJS.Timeout | undefined;
  timerAtMs: number;
}

/** Creates a queue that is not started. */
export function createWorkQueue(options: WorkQueueOptions): WorkQueue {
  const { concurrency, backOff = BACK_OFF, burst = BURST } = options;
  const entries = new Map<string, Entry>();
  // an entry is in it at most once; namespaces take turns, so that one with many objects does not delay the others
  const waiting = createFairQueue<Entry>();
  let running = 0;
  let sweepAt = SWEEP_AT;
  let isStarted = false;
  let stopped: (() => void) | undefined;

  const entryOf = (key: ObjectKey): Entry => {
    const text = keyText(key);
    const known = entries.get(text);
    if (known !== undefined) return known;
    const entry: Entry = {
      key,
      ...{ state: 'idle', isAgain: false, failures: 0 },
      ...{ left: burst.count, leftAtMs: performance.now(), timerAtMs: 0 },
    };
    entries.set(text, entry);
    return entry;
  };
  const forgetTimer = (entry: Entry): void => {
    clearTimeout(entry.timer);
    entry.timer = undefined;
  };
  const addAfter = (entry: Entry, ms: number): void => {
    if (stopped !== undefined) return;
    const atMs = performance.now() + ms;
    if (entry.timer !== undefined && entry.timerAtMs <= atMs) return;
    forgetTimer(entry);
    entry.timerAtMs = atMs;
    entry.timer = setTimeout(
      () => {
        entry.timer = undefined;
        enqueue(entry);
      },
      Math.min(ms, LONGEST_MS),
    );
    entry.timer.unref();
  };
  const enqueue = (entry: Entry): void => {
    if (stopped !== undefined || entry.state === 'waiting') return;
    if (entry.state === 'running') {
      entry.isAgain = true;
      return;
    }
    const pauseMs = pauseOf(entry, burst);
    if (pauseMs > 0) return addAfter(entry, pauseMs);
    entry.state = 'waiting';
    waiting.add(entry.key.namespace, entry);
    next();
  };
  const next = (): void => {
    while (isStarted && stopped === undefined && running < concurrency) {
      const entry = waiting.take();
      if (entry === undefined) return;
      void runOne(entry);
    }
  };
  const runOne = async (entry: Entry): Promise<void> => {
    running += 1;
    entry.state = 'running';
    entry.left -= 1;
    forgetTimer(entry);
    const startedMs = performance.now();
    try {
      const outcome = await options.work(entry.key);
      entry.failures = 0;
      options.done?.(entry.key, performance.now() - startedMs);
      if (outcome?.againAfterMs !== undefined) {
        options.requeued?.();
        addAfter(entry, outcome.againAfterMs);
      }
    } catch (cause) {
      entry.failures += 1;
      const pauseMs = backOffMs(entry.failures, backOff);
      options.done?.(entry.key, performance.now() - startedMs, { cause, pauseMs });
      options.requeued?.();
      addAfter(entry, pauseMs);
    }
    running -= 1;
    entry.state = 'idle';
    if (entry.isAgain) {
      entry.isAgain = false;
      enqueue(entry);
    }
    if (isQuiet(entry)) entries.delete(keyText(entry.key));
    if (entries.size > sweepAt) {
      for (const [key, each] of entries) if (isQuiet(each)) entries.delete(key);
      sweepAt = Math.max(SWEEP_AT, entries.size * 2);
    }
    next();
    if (running === 0) stopped?.();
  };
  /** Such a key is as good as a new one. */
  const isQuiet = (entry: Entry): boolean =>
    entry.state === 'idle' &&
    entry.timer === undefined &&
    entry.failures === 0 &&
    refilled(entry, burst) >= burst.count - 1;
  return {
    add: (key) => enqueue(entryOf(key)),
    start() {
      isStarted = true;
      next();
    },
    get depth() {
      return waiting.size;
    },
    get isIdle() {
      return running === 0 && waiting.size === 0;
    },
    stop() {
      return new Promise((resolve) => {
        stopped = resolve;
        for (const entry of entries.values()) forgetTimer(entry);
        if (running === 0) resolve();
      });
    },
  };
}

function refilled({ left, leftAtMs }: Entry, { count, refillMs }: typeof BURST): number {
  return Math.min(count, left + (performance.now() - leftAtMs) / refillMs);
}

/** Milliseconds until a key may start. Events of an object that always changes do not keep a worker busy. */
function pauseOf(entry: Entry, burst: typeof BURST): number {
  entry.left = refilled(entry, burst);
  entry.leftAtMs = performance.now();
  return entry.left >= 1 ? 0 : (1 - entry.left) * burst.refillMs;
}
