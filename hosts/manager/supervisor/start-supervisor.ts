import { engineAnswers } from '@toolmgr/plugins/workloads/engine-ping';
import { recoverReplacement } from '../../run/workloads/replace.ts';
import { noteFailure, startWorkload } from '../../run/workloads/start.ts';
import type { ManagerParts } from '../plan.ts';
import { type Supervisor, supervise } from './supervise.ts';

/** Starts the supervisor of a manager: it starts workloads as the command line does. */
export function startSupervisor({ state, env, log, publish, signal }: ManagerParts): Supervisor {
  return supervise({
    state,
    log,
    publish,
    signal,
    start: (config, work) => startWorkload(state, config, work),
    restore: (name) => recoverReplacement(state, name),
    noteReason: (name, reason) => noteFailure(state, name, reason),
    engineAnswers: () => engineAnswers(env),
  });
}
