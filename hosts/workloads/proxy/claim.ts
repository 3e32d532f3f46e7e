import { randomUUID } from 'node:crypto';
import { markProcess } from '@toolmgr/plugins/kit/files';
import { changeStatus, type RunConfig, type StatusChange, transitions } from '@toolmgr/plugins/kit/workloads';
import { removeLeftovers } from './leftovers.ts';

/** A workload that this process serves: no other process changes its status until the end or a stop. */
export interface Claim {
  readonly config: RunConfig;
  readonly runId: string;
  /** Port of the last start. */
  readonly port: number | undefined;
  /**
   * Writes the status of this start; members of earlier reports are not kept. Without effect after a stop was requested
   * or another process has the workload.
   */
  report(change: Omit<StatusChange, 'proxy' | 'runId' | 'startedAtMs' | 'generation'>): Promise<void>;
  /** Writes the last status, also after a stop was requested. Without effect when another process has the workload. */
  finish(change: Pick<StatusChange, 'status' | 'message' | 'desired'>): Promise<void>;
}

/**
 * Claims a workload for this process and removes what its last start left. A reason when that is not possible.
 *
 * `generation`: the start that this process was made for; without it the process makes the start itself.
 */
export async function claimWorkload(
  state: string,
  name: string,
  generation: number | undefined,
): Promise<Claim | { readonly refused: string }> {
  const proxy = await markProcess(process.pid);
  const runId = randomUUID();
  const nowMs = Date.now();
  let refused: string | undefined;
  let before: { readonly runId?: string; readonly port?: number } = {};
  const after = await changeStatus(state, name, (now) => {
    const move = transitions.claimStart(now, { proxy, runId, generation, nowMs });
    before = now.status;
    if (move !== undefined && 'change' in move) return move.change;
    refused = move?.refused ?? 'it runs already';
    return undefined;
  });
  if (after === undefined) return { refused: `there is no workload ${name}` };
  if (refused !== undefined || after.config === undefined) return { refused: refused ?? 'it cannot be read' };
  // what a killed proxy left would hold files, ports and memory
  if (before.runId !== undefined) {
    await removeLeftovers(after.config, before.runId, { leavesLasting: true }).catch(() => undefined);
  }
  const mine = { runId, startedAtMs: nowMs, ...(proxy === undefined ? {} : { proxy }) };
  const claimed = after.status.generation;
  return {
    config: after.config,
    runId,
    port: before.port,
    async report(change) {
      await changeStatus(state, name, ({ status }) =>
        status.runId === runId && status.generation === claimed ? { ...mine, ...change } : undefined,
      );
    },
    async finish(change) {
      await changeStatus(state, name, ({ status }) =>
        // another proxy may have taken over, e.g. while this machine was suspended
        status.runId === runId
          ? {
              ...change,
              ...(status.port === undefined ? {} : { port: status.port }),
              ...(status.by === undefined ? {} : { by: status.by }),
            }
          : undefined,
      );
    },
  };
}
