import type { ProcessMark } from '../../files/process-identity.ts';
import type { StatusChange } from './records.ts';
import { type DesiredState, desiredOf, type WorkloadRecord } from './workload-record.ts';

/** A change of the status, or why there is none: a reason for the user, or `undefined` when nothing is to be done. */
export type Transition = { readonly change: StatusChange } | { readonly refused: string } | undefined;

/**
 * The moves of a workload that commands and its proxy make. Each one is computed from the current record under its lock,
 * so that two commands at once cannot both make it. Pure.
 *
 * `generation` grows with every start and stop. A proxy gets the generation of its start; when it is no longer the current
 * one, the workload was stopped or started again meanwhile, and the proxy ends without a change.
 *
 * `desired` is what a supervisor keeps up: a start makes it `running`, a stop `stopped`; an end by an error leaves it.
 */
export const transitions = {
  /** Before a proxy is detached. `undefined` when it runs or another command starts it. */
  requestStart(now: WorkloadRecord, by: ProcessMark | undefined): Transition {
    if (now.config === undefined) return { refused: now.status.message ?? 'its configuration cannot be read' };
    if (now.status.status === 'removing') return { refused: 'it is being removed' };
    if (now.alive || now.status.status === 'starting') return undefined;
    if (now.heldBy !== undefined && !isSame(now.heldBy, by)) return { refused: 'another command changes it' };
    return {
      change: {
        ...portOf(now),
        ...lastRunOf(now),
        status: 'starting',
        desired: 'running',
        generation: next(now),
        ...(by === undefined ? {} : { by }),
      },
    };
  },

  /** By the proxy, before it starts anything. Without `generation` the proxy itself makes the start. */
  claimStart(
    now: WorkloadRecord,
    start: {
      readonly proxy: ProcessMark | undefined;
      readonly runId: string;
      readonly generation: number | undefined;
      readonly nowMs: number;
    },
  ): Transition {
    if (now.config === undefined) return { refused: now.status.message ?? 'its configuration cannot be read' };
    if (now.alive) return { refused: 'it runs already' };
    if (now.status.status === 'removing') return { refused: 'it is being removed' };
    if (start.generation !== undefined && start.generation !== (now.status.generation ?? 0)) {
      return { refused: 'it was stopped or started again before this proxy was ready' };
    }
    return {
      change: {
        ...portOf(now),
        status: 'starting',
        // a proxy that makes the start itself runs in the foreground: it ends with its terminal
        desired: start.generation === undefined ? 'stopped' : desiredOf(now.status),
        generation: start.generation ?? next(now),
        runId: start.runId,
        startedAtMs: start.nowMs,
        ...(start.proxy === undefined ? {} : { proxy: start.proxy }),
      },
    };
  },

  /**
   * Before the proxy is signalled. A start that has no proxy yet is cancelled. `desired` is given when the stop is not what the
   * user wants, e.g. that of a restart: `by` is then the command that will start it, and no other process does meanwhile.
   */
  requestStop(
    now: WorkloadRecord,
    { desired = 'stopped', by }: { readonly desired?: DesiredState; readonly by?: ProcessMark } = {},
  ): Transition {
    const { status } = now;
    if (status.status === 'removing') return undefined;
    const more = { desired, generation: next(now), ...(by === undefined ? {} : { by }) };
    if (now.alive) return { change: { ...changeFrom(now), ...more, status: 'stopping' } };
    if (status.status !== 'starting') return { change: { ...changeFrom(now), ...more } };
    return { change: { ...portOf(now), ...lastRunOf(now), ...more, status: 'stopped' } };
  },

  /** After the processes of the start `runId` have ended; `hadProcesses` when there were any. */
  finishStop(now: WorkloadRecord, runId: string | undefined, hadProcesses: boolean): Transition {
    if (now.alive || now.status.runId !== runId) return undefined;
    const { status } = now.status;
    if (status === 'removing' || status === 'starting') return undefined;
    // the reason of an error is kept until the next start
    if (status === 'error' && !hadProcesses && now.status.proxy === undefined) return undefined;
    return { change: { ...portOf(now), ...byOf(now), status: 'stopped' } };
  },

  /** After a stop whose start was not made: other commands may work on it again. */
  release(now: WorkloadRecord, by: ProcessMark): Transition {
    const { status, by: holder } = now.status;
    if (holder === undefined || !isSame(holder, by) || status === 'starting' || status === 'removing') return undefined;
    const { by: _, ...rest } = changeFrom(now);
    return { change: rest };
  },

  /** After a start that did not succeed. Without effect after a stop. */
  failStart(now: WorkloadRecord, message: string): Transition {
    const { status } = now.status;
    if (now.alive || status === 'removing' || status === 'starting') return undefined;
    if (status === 'error' && now.status.message === message) return undefined;
    if (desiredOf(now.status) !== 'running') return undefined;
    return { change: { ...portOf(now), ...lastRunOf(now), status: 'error', message } };
  },

  /** Before anything of a workload is removed. */
  requestRemoval(now: WorkloadRecord, by: ProcessMark | undefined): Transition {
    if (now.alive) return { refused: 'it runs' };
    if (now.status.status === 'starting') return { refused: 'another command starts it' };
    return {
      change: {
        ...portOf(now),
        ...lastRunOf(now),
        status: 'removing',
        desired: 'stopped',
        generation: next(now),
        ...(by === undefined ? {} : { by }),
      },
    };
  },
} as const;

function isSame(one: ProcessMark, other: ProcessMark | undefined): boolean {
  return one.pid === other?.pid && one.started === other.started;
}

function next({ status }: WorkloadRecord): number {
  return (status.generation ?? 0) + 1;
}

/** Clients know the port, so the next start takes it again. */
function portOf({ status: { port } }: WorkloadRecord) {
  return port === undefined ? {} : { port };
}

/** Identifies processes and containers that may be left of the last start. */
function lastRunOf({ status: { runId } }: WorkloadRecord) {
  return runId === undefined ? {} : { runId };
}

/** The command that works on it. */
function byOf({ status: { by } }: WorkloadRecord) {
  return by === undefined ? {} : { by };
}

function changeFrom({ status: { format: _, updatedAtMs: __, id: ___, ...rest } }: WorkloadRecord): StatusChange {
  return rest;
}
