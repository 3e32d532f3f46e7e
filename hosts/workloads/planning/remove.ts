import { explainCause } from '@toolmgr/core';
import { markProcess } from '@toolmgr/plugins/kit/files';
import {
  changeStatus,
  readWorkload,
  type Transition,
  transitions,
  type WorkloadRecord,
} from '@toolmgr/plugins/kit/workloads';
import { ownCommand } from '../../shared/own-command.ts';
import { removeLeftovers } from '../proxy/leftovers.ts';
import { removeWithSecrets } from '../secrets/remove-with-secrets.ts';
import { stopWorkload } from './stop.ts';

/** How a removal ended; `left` has removed the workload, and something of it may be left in an engine. */
export type RemoveOutcome =
  | { readonly kind: 'removed' | 'gone' }
  | { readonly kind: 'refused' | 'left'; readonly problem: string };

/**
 * Removes a workload: its proxy and processes, its containers, then its files. Containers go before the files, so that a
 * removal that is killed can be repeated.
 *
 * `force` stops a running workload first, and removes the files also when no container engine answers. With `id` a later workload of
 * the same name is left alone.
 */
export async function removeWorkload(
  state: string,
  name: string,
  { force, id }: { readonly force: boolean; readonly id?: string | undefined },
): Promise<RemoveOutcome> {
  const found = await readWorkload(state, name);
  if (found === undefined || isOther(found, id)) return { kind: 'gone' };
  if (found.alive && !force) return runs(name);
  const by = await markProcess(process.pid);
  let refused: string | undefined;
  for (let turn = 0; turn < TURNS; turn++) {
    const { generation = 0 } = found.status;
    await stopWorkload(state, name, force && id === undefined ? {} : { generation });
    let move: Transition;
    const record = await changeStatus(state, name, (now) => {
      if (isOther(now, id)) return undefined;
      move = transitions.requestRemoval(now, by);
      return move !== undefined && 'change' in move ? move.change : undefined;
    });
    if (record === undefined || isOther(record, id)) return { kind: 'gone' };
    refused = move !== undefined && 'refused' in move ? move.refused : undefined;
    if (refused === undefined) break;
    // another command has started it since; without --force that start is kept
    if (!force) return { kind: 'refused', problem: `${name} was started again in the meantime` };
  }
  if (refused !== undefined) return { kind: 'refused', problem: `${name}: ${refused}, again and again` };
  let problem: string | undefined;
  try {
    await removeLeftovers(found.config, undefined);
  } catch (cause) {
    problem = `${name}: its containers may be left: ${explainCause(cause)}`;
    if (!force) return { kind: 'refused', problem: `${problem}; --force removes the workload without them` };
  }
  const { outcome, left } = await removeWithSecrets(state, name, id);
  if (outcome === 'running') return runs(name);
  problem ??= left;
  return problem === undefined ? { kind: outcome } : { kind: 'left', problem };
}

function isOther({ status }: WorkloadRecord, id: string | undefined): boolean {
  return id !== undefined && status.id !== id;
}

function runs(name: string): RemoveOutcome {
  return { kind: 'refused', problem: `${name} runs: stop it first (${ownCommand(`stop ${name}`)}), or use --force` };
}

const TURNS = 5;
