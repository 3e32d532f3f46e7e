import { availableParallelism } from 'node:os';
import { explainCause, type Log } from '@toolmgr/core';
import type { PublishEvent } from '@toolmgr/plugins/kit/operations';
import { type RunConfig, readWorkload } from '@toolmgr/plugins/kit/workloads';
import { createWake } from '../../shared/wake.ts';
import type { Started } from '../../workloads/planning/start.ts';
import type { StartWork } from '../../workloads/planning/work.ts';
import { afterStart, currentMemory, decide, type StartMemory } from './decide.ts';
import { followRecords, onRecordChange } from './follow-records.ts';

/** What the supervisor needs from its host. */
export interface SupervisorDeps {
  readonly state: string;
  readonly log: Log;
  readonly publish: PublishEvent;
  /** Ends the supervisor. Workloads run on, also those that are being started. */
  readonly signal: AbortSignal;
  start(config: RunConfig, work: StartWork): Promise<Started>;
  /** Restores the configuration before an upgrade that was killed. */
  restore(name: string): Promise<'kept' | 'restored' | 'waits'>;
  /** Ends the proxy of a workload whose stop was interrupted. It stays wanted if it was. */
  finishStop(name: string): Promise<void>;
  /** Writes why a workload waits. */
  noteReason(name: string, reason: string): Promise<void>;
  /** Whether a container engine answers. Never throws; at most some seconds. */
  engineAnswers(): Promise<boolean>;
}

/** How a supervisor is awaited. */
export interface Supervisor {
  /** Resolves when it has ended. */
  readonly ended: Promise<void>;
}

/**
 * Keeps running what should run: reads the records at once and whenever they change, looks at the processes every two seconds, and
 * starts what does not run. Ends stops that were interrupted; otherwise stops and removes nothing.
 */
export function supervise(deps: SupervisorDeps): Supervisor {
  return { ended: run(deps) };
}

/** How often the processes are looked at. A process that is killed writes nothing. */
const LOOK_MS = 2_000;
/** How often files are looked at that no event was reported for. */
const SCAN_MS = 15_000;
/** Starts that may be at the beginning of their work at once. */
const STARTS_AT_ONCE = Math.max(4, 2 * availableParallelism());
/** A start that takes longer, e.g. pulls an image or hangs, does not delay others. */
const SLOT_MS = 5_000;

async function run(deps: SupervisorDeps): Promise<void> {
  const { state, log, publish, signal } = deps;
  const followed = followRecords(state);
  const memories = new Map<string, StartMemory>();
  const shown = new Map<string, string>();
  /** Workloads that are worked on or wait for a place. */
  const busy = new Set<string>();
  const waitingForEngine = new Set<string>();
  const slots = createSlots(STARTS_AT_ONCE);
  const wake = createWake();
  let wantsScan = true;
  const scanSoon = (): void => {
    wantsScan = true;
    wake.now();
  };
  const hasEvents = await onRecordChange(state, scanSoon, signal).catch(() => false);
  let hasEngine = true;
  let nextScanMs = 0;
  let isFirst = true;

  while (!signal.aborted) {
    try {
      if (wantsScan || performance.now() >= nextScanMs) {
        wantsScan = false;
        await followed.scan();
        nextScanMs = performance.now() + (hasEvents ? SCAN_MS : LOOK_MS);
      } else await followed.look();
      if (waitingForEngine.size > 0) hasEngine = await deps.engineAnswers();
      publishChanges();
      decideAll();
    } catch (cause) {
      log.error('the records of the workloads cannot be read', { reason: explainCause(cause) });
    }
    isFirst = false;
    await wake.after(LOOK_MS, signal);
  }

  function decideAll(): void {
    waitingForEngine.clear();
    for (const [name, { record, isChanging }] of followed.records) {
      if (busy.has(name)) continue;
      const memory = memories.get(name);
      const { do: what } = decide(record, { nowMs: Date.now(), memory, hasEngine, isChanging });
      if (what === 'forget') memories.delete(name);
      if (what === 'awaitEngine') {
        waitingForEngine.add(name);
        if (record.status.message !== WAITS_FOR_ENGINE) void deps.noteReason(name, WAITS_FOR_ENGINE).catch(() => {});
      }
      if (what === 'start' && record.config !== undefined) void work(name, () => startNow(name, memory));
      if (what === 'finishStop') void work(name, () => deps.finishStop(name).then(() => true));
      if (what === 'restore') void work(name, async () => (await deps.restore(name)) !== 'waits');
    }
    for (const name of memories.keys()) if (!followed.records.has(name)) memories.delete(name);
    if (waitingForEngine.size === 0) hasEngine = true;
  }

  /** Works on one workload, and reads the records again when `act` has changed something. */
  async function work(name: string, act: () => Promise<boolean>): Promise<void> {
    busy.add(name);
    let hasChanged = false;
    try {
      hasChanged = await act();
    } catch (cause) {
      log.error('a workload cannot be started', { workload: name, reason: explainCause(cause) });
      memories.set(name, afterStart(memories.get(name), Date.now(), memories.get(name)?.generation ?? 0));
    } finally {
      busy.delete(name);
      if (hasChanged) scanSoon();
    }
  }

  async function startNow(name: string, memory: StartMemory | undefined): Promise<boolean> {
    const release = await slots.take();
    const timer = setTimeout(release, SLOT_MS).unref();
    try {
      if (signal.aborted) return false;
      // the user may have stopped or removed it while it waited for its place
      const now = await readWorkload(state, name);
      if (now?.config === undefined) return true;
      const again = decide(now, { nowMs: Date.now(), memory, hasEngine: true });
      if (again.do !== 'start') return true;
      if (now.config.image !== undefined && !(await deps.engineAnswers())) {
        hasEngine = false;
        return true;
      }
      log.info('a workload is started again', { workload: name, status: now.status.status });
      const startMs = Date.now();
      const started = await deps.start(now.config, { supervised: true, signal, report: () => {} });
      if (signal.aborted) return false;
      const after = await readWorkload(state, name);
      memories.set(name, afterStart(currentMemory(now, memory), startMs, after?.status.generation ?? 0));
      if (started.kind === 'running') {
        log.info('a workload runs again', { workload: name });
        return true;
      }
      // without an engine it waits for that, and not for its back-off
      if (now.config.image !== undefined && !(await deps.engineAnswers())) {
        hasEngine = false;
        memories.delete(name);
      }
      log.warn('a workload cannot be started', { workload: name, reason: started.reason });
      return true;
    } finally {
      clearTimeout(timer);
      release();
    }
  }

  /** Also what commands and proxies have changed. */
  function publishChanges(): void {
    for (const [name, { record }] of followed.records) {
      const { status } = record.status;
      if (shown.get(name) === status) continue;
      shown.set(name, status);
      if (!isFirst) publish({ type: 'workload', name, status });
    }
    for (const name of [...shown.keys()]) {
      if (followed.records.has(name)) continue;
      shown.delete(name);
      publish({ type: 'workload', name, status: 'removed' });
    }
  }
}

const WAITS_FOR_ENGINE = 'no container engine answers; it is started when one does';

/** Places for work at once. Taken in turn. */
function createSlots(count: number): { take(): Promise<() => void> } {
  let free = count;
  const waiting: (() => void)[] = [];
  const releaseOnce = (): (() => void) => {
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    };
  };
  return {
    async take() {
      if (free > 0) free--;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      return releaseOnce();
    },
  };
}
