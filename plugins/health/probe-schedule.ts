import { LONGEST_TIMER_MS } from '@toolmgr/core';

/** What {@link createProbeSchedule} needs. */
export interface ProbeScheduleOptions {
  /** Maximum parallel probes over all backends. */
  readonly concurrency: number;
  now(): number;
  /** Probes one backend; resolves with the epoch milliseconds of its next probe. Never rejects. */
  probe(name: string, signal: AbortSignal): Promise<number>;
}

/** Schedules probes: one per backend at a time, a bounded number over all, the longest overdue first. */
export interface ProbeSchedule {
  add(name: string, dueMs: number): void;
  delete(name: string): void;
  /** Makes the next probe earlier; no effect while a probe runs or when it is earlier already. */
  bringForward(name: string, dueMs: number): void;
  /** Sets the time of the next probe. */
  reschedule(name: string, dueMs: number): void;
  /** Stops all probes. */
  stop(): void;
}

interface ScheduledProbe {
  dueMs: number;
  running: AbortController | undefined;
}

/** Creates a schedule, which starts with the first `add`. One unreferenced timer serves all backends. */
export function createProbeSchedule({ concurrency, now, probe }: ProbeScheduleOptions): ProbeSchedule {
  const probes = new Map<string, ScheduledProbe>();
  let running = 0;
  let timer: NodeJS.Timeout | undefined;
  let wakesMs = 0;
  let isStopped = false;

  const run = async (name: string, scheduled: ScheduledProbe): Promise<void> => {
    const stop = new AbortController();
    scheduled.running = stop;
    running++;
    const nextMs = await probe(name, stop.signal);
    running--;
    scheduled.running = undefined;
    scheduled.dueMs = nextMs;
    runDue();
  };

  const runDue = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (isStopped) return;
    const nowMs = now();
    const due: [string, ScheduledProbe][] = [];
    let earliestMs = Number.POSITIVE_INFINITY;
    for (const entry of probes) {
      const [, scheduled] = entry;
      if (scheduled.running !== undefined) continue;
      if (scheduled.dueMs <= nowMs) due.push(entry);
      else earliestMs = Math.min(earliestMs, scheduled.dueMs);
    }
    due.sort(([, one], [, other]) => one.dueMs - other.dueMs);
    // Others start when a running probe ends.
    for (const [name, scheduled] of due.slice(0, Math.max(0, concurrency - running))) void run(name, scheduled);
    wakeAt(earliestMs);
  };

  const wakeAt = (dueMs: number): void => {
    if (isStopped || dueMs === Number.POSITIVE_INFINITY) return;
    if (timer !== undefined && wakesMs <= dueMs) return;
    clearTimeout(timer);
    wakesMs = dueMs;
    timer = setTimeout(runDue, Math.min(Math.max(dueMs - now(), 0), LONGEST_TIMER_MS));
    timer.unref();
  };

  const reschedule = (name: string, dueMs: number): void => {
    const scheduled = probes.get(name);
    if (scheduled === undefined || scheduled.running !== undefined) return;
    scheduled.dueMs = dueMs;
    wakeAt(dueMs);
  };

  return {
    add(name, dueMs) {
      probes.set(name, { dueMs, running: undefined });
      wakeAt(dueMs);
    },
    delete(name) {
      probes.get(name)?.running?.abort();
      probes.delete(name);
    },
    bringForward(name, dueMs) {
      if ((probes.get(name)?.dueMs ?? dueMs) > dueMs) reschedule(name, dueMs);
    },
    reschedule,
    stop() {
      isStopped = true;
      clearTimeout(timer);
      for (const scheduled of probes.values()) scheduled.running?.abort();
      probes.clear();
    },
  };
}
