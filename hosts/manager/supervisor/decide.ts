import { backOffMs } from '@toolmgr/core';
import { desiredOf, type WorkloadRecord } from '@toolmgr/plugins/kit/workloads';

/** What the supervisor remembers of its starts of one workload. */
export interface StartMemory {
  /** Starts since it was last stable. */
  readonly starts: number;
  /** The next start is not made before, in epoch milliseconds. */
  readonly notBeforeMs: number;
  /** The generation that the last start left: another one was made by the user. */
  readonly generation: number;
}

/** What is done about one workload now. */
export type Decision =
  | { readonly do: 'nothing' }
  /** It is stable, or the user has taken over. */
  | { readonly do: 'forget' }
  | { readonly do: 'start' }
  /** An upgrade was killed: the configuration before it is restored. */
  | { readonly do: 'restore' }
  /** What stopped it, also to start it again, was killed before its proxy ended. */
  | { readonly do: 'finishStop' }
  | { readonly do: 'awaitEngine' }
  | { readonly do: 'wait'; readonly untilMs: number };

/** What is known beside the record. */
export interface Circumstances {
  readonly nowMs: number;
  readonly memory: StartMemory | undefined;
  /** A container engine answers. */
  readonly hasEngine: boolean;
  /** A command that changed its configuration has not finished. */
  readonly isChanging?: boolean;
}

/** A workload that runs this long is stable: its starts are forgotten. */
export const STABLE_MS = 30_000;
/** A proxy that stops has ended by then: it gives its workload 5 s and its calls 5 s. */
export const STOP_MS = 12_000;
/** A command that stops for good gives more time, and a proxy in the foreground too. */
export const USER_STOP_MS = 40_000;
/** The delay after the first start is 5 s; it doubles up to 5 min. */
export const BACK_OFF = { firstMs: 5_000, maxMs: 300_000 } as const;

/** What the supervisor does about a workload: starts it when it should run, does not run, and no other process works on it. Pure. */
export function decide(record: WorkloadRecord, { nowMs, memory, hasEngine, isChanging }: Circumstances): Decision {
  const { alive, config, heldBy, status } = record;
  if (heldBy !== undefined) return NOTHING;
  if (isChanging) return { do: 'restore' };
  if (alive && status.status === 'stopping') {
    const lateMs = status.updatedAtMs + (desiredOf(status) === 'stopped' ? USER_STOP_MS : STOP_MS);
    return nowMs < lateMs ? { do: 'wait', untilMs: lateMs } : { do: 'finishStop' };
  }
  if (config === undefined || !KNOWN.has(status.status) || desiredOf(status) === 'stopped') return forget(memory);
  if (alive) return memory !== undefined && isStable(record, nowMs) ? { do: 'forget' } : NOTHING;
  const starts = currentMemory(record, memory);
  // its back-off does not count while no engine answers
  if (config.image !== undefined && !hasEngine) return { do: 'awaitEngine' };
  if (starts !== undefined && starts.notBeforeMs > nowMs) return { do: 'wait', untilMs: starts.notBeforeMs };
  return { do: 'start' };
}

/** The memory, unless the user has started or stopped the workload since. Pure. */
export function currentMemory(
  { status: { generation = 0 } }: WorkloadRecord,
  memory: StartMemory | undefined,
): StartMemory | undefined {
  return memory?.generation === generation ? memory : undefined;
}

/** The memory after a start that was made at `nowMs` and left `generation`. Pure except for the jitter. */
export function afterStart(before: StartMemory | undefined, nowMs: number, generation: number): StartMemory {
  const starts = (before?.starts ?? 0) + 1;
  return { starts, notBeforeMs: nowMs + backOffMs(starts, BACK_OFF), generation };
}

function isStable({ status: { status, startedAtMs = 0 } }: WorkloadRecord, nowMs: number): boolean {
  return status !== 'starting' && nowMs - startedAtMs >= STABLE_MS;
}

function forget(memory: StartMemory | undefined): Decision {
  return memory === undefined ? NOTHING : { do: 'forget' };
}

const NOTHING: Decision = { do: 'nothing' };

/** Statuses in which it is known what is there: a removal that was interrupted is shown as `stopped`. */
const KNOWN: ReadonlySet<WorkloadRecord['status']['status']> = new Set([
  'starting',
  'running',
  'unhealthy',
  'unauthenticated',
  'auth_retrying',
  'stopping',
  'stopped',
  'error',
]);
