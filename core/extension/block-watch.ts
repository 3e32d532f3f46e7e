import type { IntervalHistogram } from 'node:perf_hooks';
import type { FullTap } from 'tapable';
import type { LoopBlocked } from '../contract/event.ts';
import { isPromise } from '../timing/is-promise.ts';
import type { TapObserver } from './guard.ts';
import { type ThrottledLine, throttledLine } from './log-throttle.ts';
import type { Log } from './plugin.ts';

/** Finds what keeps the event loop from everything else. */
export interface BlockWatch extends TapObserver {
  /** Also samples the whole process while it is not idle, for work that no tap began. Call {@link BlockWatch.sample} about once a second. */
  sampleProcess(): void;
  /** Reports what blocked since the last sample and is not known from a tap. */
  sample(): void;
  /** What blocked, by plugin and stage, latest last. */
  found(): readonly BlockedStage[];
  stop(): void;
}

/** All blocks of one plugin in one stage. */
export interface BlockedStage extends LoopBlocked {
  /** How often; the other fields describe the longest time. */
  readonly times: number;
  /** Epoch milliseconds of the latest one. */
  readonly latestMs: number;
}

/** What {@link createBlockWatch} needs; `limitMs` 0: nothing is measured. */
export interface BlockWatchParts {
  readonly limitMs: number;
  readonly log: Log;
  readonly now: () => number;
  /** Receives each block. */
  readonly tell: (blocked: LoopBlocked) => void;
}

type AnyFunction = (...values: unknown[]) => unknown;

/** The stage of work that no tap began: timers, continuations, garbage collection. */
const BACKGROUND = 'background';
/** Milliseconds between two ticks of the sampling, which runs outside JavaScript. */
const RESOLUTION_MS = 20;
/** CPU milliseconds of the last second under which the process is idle: then nothing is sampled, which costs 3 of these milliseconds. */
const IDLE_MS = 15;
const MAX_WAITED = 16;
const NS_PER_MS = 1e6;

/**
 * Measures how long each tap runs before it returns or awaits: two readings of the clock per tap. What a tap does after an `await`
 * is not measured, since other work may run between; the sampling of the process sees it, and names the only tap that took as long.
 */
export function createBlockWatch({ limitMs, log, now, tell }: BlockWatchParts): BlockWatch {
  const found = new Map<string, BlockedStage>();
  const lines = new Map<string, ThrottledLine>();
  /** Milliseconds that were reported in all, so that a stage is not blamed for one that it called. */
  let reportedMs = 0;
  let longestReportedMs = 0;
  let waited: LoopBlocked[] = [];
  let delays: IntervalHistogram | undefined;
  let cpuMs = 0;

  const report = (blocked: LoopBlocked): void => {
    const { plugin = '', stage } = blocked;
    const key = `${stage} ${plugin}`;
    const before = found.get(key);
    const longest = before !== undefined && before.ms > blocked.ms ? before : blocked;
    found.delete(key);
    found.set(key, { ...longest, times: (before?.times ?? 0) + 1, latestMs: now() });
    const line = lines.get(key) ?? throttledLine({ log, now }, 'the event loop was blocked', { counted: 'times' });
    lines.set(key, line);
    line.add({ ...blocked });
    tell(blocked);
  };

  const measured = (plugin: string, stage: string, run: AnyFunction, isTap = true): AnyFunction => {
    return (...values) => {
      const startedMs = performance.now();
      const beforeMs = reportedMs;
      const about = (ms: number): LoopBlocked => ({ plugin, stage, ...subjectOf(values), ms: Math.round(ms) });
      try {
        const result = run(...values);
        if (delays !== undefined && isTap && isPromise(result)) {
          const settled = (): void => {
            const ms = performance.now() - startedMs;
            if (ms >= limitMs && waited.length < MAX_WAITED) waited.push(about(ms));
          };
          result.then(settled, settled);
        }
        return result;
      } finally {
        const ms = performance.now() - startedMs - (reportedMs - beforeMs);
        if (ms >= limitMs) {
          reportedMs += ms;
          longestReportedMs = Math.max(longestReportedMs, ms);
          report(about(ms));
        }
      }
    };
  };

  const timed = (stage: string, tap: FullTap): FullTap => {
    const { fn } = tap as FullTap & { fn: AnyFunction };
    // the tap of this hook only makes the function that runs with each call
    const wrap: AnyFunction = (dispatch) => measured(tap.name, stage, fn(dispatch) as AnyFunction, false);
    return { ...tap, fn: stage === 'wrapDispatch' ? wrap : measured(tap.name, stage, fn) } as FullTap;
  };

  const sample = (): void => {
    if (delays === undefined) return;
    const usedMs = cpuTimeMs() - cpuMs;
    const delayMs = delays.count === 0 ? 0 : delays.max / NS_PER_MS - RESOLUTION_MS;
    const isKnown = longestReportedMs >= delayMs - RESOLUTION_MS;
    const ms = Math.min(delayMs, usedMs); // without computing, the process was suspended, or waited for a busy machine
    if (ms >= limitMs && !isKnown) {
      const [first, ...others] = waited.filter((one) => one.ms >= delayMs - RESOLUTION_MS);
      const isOne = others.every((one) => one.plugin === first?.plugin && one.stage === first?.stage);
      report({ stage: BACKGROUND, ...(isOne ? first : undefined), ms: Math.round(ms) });
    }
    delays.reset();
    waited = [];
    longestReportedMs = 0;
    cpuMs += usedMs;
    if (usedMs < IDLE_MS) delays.disable();
    else delays.enable();
  };

  return {
    observe(stage, hook) {
      if (limitMs > 0) hook.intercept({ register: (tap: FullTap) => timed(stage, tap) });
    },
    sampleProcess() {
      if (limitMs === 0 || delays !== undefined) return;
      const { monitorEventLoopDelay } = process.getBuiltinModule('node:perf_hooks');
      delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
      delays.enable();
      cpuMs = cpuTimeMs();
    },
    sample,
    found: () => [...found.values()],
    stop() {
      delays?.disable();
      delays = undefined;
    },
  };
}

function cpuTimeMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Method and name of what a tap was given: a call, the record of a call or of a request, or the call beside a result. */
function subjectOf(values: readonly unknown[]): Pick<LoopBlocked, 'method' | 'name'> {
  for (const value of values as readonly (Subject | undefined)[]) {
    const call = value?.call ?? (value?.target === undefined ? undefined : value);
    if (call?.target !== undefined) return { method: String(call.method), name: String(call.name) };
    if (typeof value?.message?.method === 'string') return { method: value.message.method };
  }
  return {};
}

interface Subject {
  readonly call?: Subject;
  readonly method?: unknown;
  readonly name?: unknown;
  readonly target?: unknown;
  readonly message?: { readonly method?: unknown };
}
