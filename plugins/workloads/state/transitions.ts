import type { ProcessMark } from './process-identity.ts';
import type { StatusChange } from './records.ts';
import type { WorkloadRecord } from './workload-record.ts';

/** A change of the status, or why there is none: a reason for the user, or `undefined` when nothing is to be done. */
export type Transition = { readonly change: StatusChange } | { readonly refused: string } | undefined;

/**
 * The moves of a workload that commands and its proxy make. Each one is computed from the current record under its lock,
 * so that two commands at once cannot both make it. Pure.
 *
 * `generation` grows with every start and stop. A proxy gets the generation of its start; when it is no longer the current
 * one, the workload was stopped or started again meanwhile, and the proxy ends without a change.
 */
export const transitions = {
  /** Before a proxy is detached. `undefined` when it runs or another command starts it. */
  requestStart(now: WorkloadRecord, by: ProcessMark | undefined): Transition {
    if (now.config === undefined) return { refused: now.status.message ?? 'its configuration cannot be read' };
    if (now.status.status === 'removing') return { refused: 'it is being removed' };
    if (now.alive || now.status.status === 'starting') return undefined;
    return {
      change: {
        ...portOf(now),
        ...lastRunOf(now),
        status: 'starting',
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
        generation: start.generation ?? next(now),
        runId: start.runId,
        startedAtMs: start.nowMs,
        ...(start.proxy === undefined ? {} : { proxy: start.proxy }),
      },
    };
  },

  /** Before the proxy is signalled. A start that has no proxy yet is cancelled. */
  requestStop(now: WorkloadRecord): Transition {
    const { status } = now;
    if (status.status === 'removing') return undefined;
    if (now.alive) return { change: { ...changeFrom(now), status: 'stopping', generation: next(now) } };
    if (status.status !== 'starting') return { change: { ...changeFrom(now), generation: next(now) } };
    return { change: { ...portOf(now), ...lastRunOf(now), status: 'stopped', generation: next(now) } };
  },

  /** After the processes of the start `runId` have ended; `hadProcesses` when there were any. */
  finishStop(now: WorkloadRecord, runId: string | undefined, hadProcesses: boolean): Transition {
    if (now.alive || now.status.runId !== runId) return undefined;
    const { status } = now.status;
    if (status === 'removing' || status === 'starting') return undefined;
    // the reason of an error is kept until the next start
    if (status === 'error' && !hadProcesses && now.status.proxy === undefined) return undefined;
    return { change: { ...portOf(now), status: 'stopped' } };
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
        generation: next(now),
        ...(by === undefined ? {} : { by }),
      },
    };
  },
} as const;

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

function changeFrom({ status: { format: _, updatedAtMs: __, id: ___, ...rest } }: WorkloadRecord): StatusChange {
  return rest;
}
