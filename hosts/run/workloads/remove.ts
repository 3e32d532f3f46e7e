import { explainCause } from '@toolmgr/core';
import {
  changeStatus,
  markProcess,
  readWorkload,
  type Transition,
  transitions,
} from '@toolmgr/plugins/workloads/state';
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
 * `force` stops a running workload first, and removes the files also when no container engine answers.
 */
export async function removeWorkload(
  state: string,
  name: string,
  { force }: { readonly force: boolean },
): Promise<RemoveOutcome> {
  const found = await readWorkload(state, name);
  if (found === undefined) return { kind: 'gone' };
  if (found.alive && !force) return runs(name);
  const by = await markProcess(process.pid);
  let refused: string | undefined;
  for (let turn = 0; turn < TURNS; turn++) {
    const { generation = 0 } = found.status;
    await stopWorkload(state, name, force ? {} : { generation });
    let move: Transition;
    const record = await changeStatus(state, name, (now) => {
      move = transitions.requestRemoval(now, by);
      return move !== undefined && 'change' in move ? move.change : undefined;
    });
    if (record === undefined) return { kind: 'gone' };
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
  const { outcome, left } = await removeWithSecrets(state, name);
  if (outcome === 'running') return runs(name);
  problem ??= left;
  return problem === undefined ? { kind: outcome } : { kind: 'left', problem };
}

function runs(name: string): RemoveOutcome {
  return { kind: 'refused', problem: `${name} runs: stop it first (toolmgr stop ${name}), or use --force` };
}

const TURNS = 5;
