import { setTimeout as delay } from 'node:timers/promises';
import { explainCause } from '@toolmgr/core';
import { isRunning, type ProcessMark } from '@toolmgr/plugins/kit/files';
import {
  changeStatus,
  desiredOf,
  readWorkload,
  storageFault,
  type Transition,
  transitions,
  type WorkloadRecord,
} from '@toolmgr/plugins/kit/workloads';
import { removeLeftovers } from '../proxy/leftovers.ts';

/** What a stop found and did: nothing ran, or all of it has ended, or something may be left (`problem`). */
export type StopOutcome =
  | { readonly kind: 'gone' | 'idle' | 'stopped' }
  | { readonly kind: 'left'; readonly problem: string };

/** Options of {@link stopWorkload}. */
export interface StopOptions {
  /** Time for the proxy to end before it is killed. */
  readonly graceMs?: number;
  /** Stops only this start; a later one is left alone. */
  readonly generation?: number;
  /** The user wants no stop: it is started again. `by` is the process that will do it, which keeps others from it. */
  readonly again?: { readonly by?: ProcessMark | undefined };
}

/**
 * Stops a workload: signals its proxy, kills it if it does not end, and removes the processes and containers that a killed
 * proxy left. A start that has no proxy yet is cancelled.
 *
 * Signals only the recorded process, never another one that got the same process id.
 */
export async function stopWorkload(
  state: string,
  name: string,
  { graceMs = GRACE_MS, generation, again }: StopOptions = {},
): Promise<StopOutcome> {
  let unwritten: string | undefined;
  const change: typeof changeStatus = (...args) =>
    changeStatus(...args).catch((cause: unknown) => {
      // a full disk keeps nothing running
      unwritten = storageFault(cause);
      if (unwritten === undefined) throw cause;
      return readWorkload(state, name);
    });
  const isOther = ({ status: found }: WorkloadRecord): boolean =>
    generation !== undefined && (found.generation ?? 0) !== generation;
  let wasOther = false;
  const record = await change(state, name, (now) => {
    wasOther = isOther(now);
    return wasOther ? undefined : changeOf(transitions.requestStop(now, stopOf(now, again)));
  });
  if (record === undefined) return { kind: 'gone' };
  if (wasOther || (unwritten !== undefined && isOther(record))) return { kind: 'idle' };
  const { alive, status, config } = record;
  if (alive) await endProxy(record, graceMs);
  let left = 0;
  let problem: string | undefined;
  try {
    if (status.runId !== undefined) left = await removeLeftovers(config, status.runId);
  } catch (cause) {
    problem = `its containers may be left: ${explainCause(cause)}`;
  }
  await change(state, name, (now) => changeOf(transitions.finishStop(now, status.runId, alive || left > 0)));
  if (unwritten !== undefined) problem ??= `that cannot be stored, so a manager may start it again: ${unwritten}`;
  if (problem !== undefined) return { kind: 'left', problem };
  return { kind: alive || left > 0 ? 'stopped' : 'idle' };
}

/** Ends the hold of a stop with `again`, when its start is not made. Without effect after it was. */
export async function releaseWorkload(state: string, name: string, by: ProcessMark | undefined): Promise<void> {
  if (by !== undefined) await changeStatus(state, name, (now) => changeOf(transitions.release(now, by)));
}

function stopOf({ status }: WorkloadRecord, again: StopOptions['again']) {
  if (again === undefined) return {};
  return { desired: desiredOf(status), ...(again.by === undefined ? {} : { by: again.by }) };
}

function changeOf(move: Transition) {
  return move !== undefined && 'change' in move ? move.change : undefined;
}

async function endProxy({ status }: WorkloadRecord, graceMs: number): Promise<void> {
  const { proxy } = status;
  if (proxy === undefined) return;
  for (const [signal, waitMs] of [
    ['SIGTERM', graceMs],
    ['SIGKILL', KILL_MS],
  ] as const) {
    if (!(await isRunning(proxy))) return;
    try {
      process.kill(proxy.pid, signal);
    } catch {
      return; // it has just ended
    }
    const deadlineMs = performance.now() + waitMs;
    while (performance.now() < deadlineMs && (await isRunning(proxy))) await delay(POLL_MS);
  }
}

const GRACE_MS = 30_000; // the proxy gives its workload 5 s and its calls 5 s
const KILL_MS = 2_000;
const POLL_MS = 30;
