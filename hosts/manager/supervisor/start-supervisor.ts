import type { Log } from '@toolmgr/core';
import type { BackgroundContext, OperationHome } from '@toolmgr/plugins/kit/operations';
import { engineAnswers } from '@toolmgr/plugins/workloads/container';
import { releaseStartMemory } from '../../shared/engine.ts';
import { recoverReplacement } from '../../workloads/planning/replace.ts';
import { noteFailure, startWorkload } from '../../workloads/planning/start.ts';
import { stopWorkload } from '../../workloads/planning/stop.ts';
import { type Supervisor, type SupervisorDeps, supervise } from './supervise.ts';

/** Starts the supervisor of a manager: it starts workloads as the command line does. */
export function startSupervisor({
  state,
  env,
  log,
  publish,
  signal,
}: BackgroundContext & Pick<OperationHome, 'state' | 'env'> & { readonly log: Log }): Supervisor {
  return supervise({
    state,
    log,
    publish,
    signal,
    start: releasing((config, work) => startWorkload(state, config, work)),
    restore: (name) => recoverReplacement(state, name),
    finishStop: async (name) => void (await stopWorkload(state, name, { again: {} })),
    noteReason: (name, reason) => noteFailure(state, name, reason),
    engineAnswers: () => engineAnswers(env),
  });
}

/** Returns the memory of starts once the last one has ended, at most every five minutes. */
function releasing(start: SupervisorDeps['start']): SupervisorDeps['start'] {
  let underWay = 0;
  let notBeforeMs = 0;
  return async (config, work) => {
    underWay++;
    try {
      return await start(config, work);
    } finally {
      underWay--;
      if (underWay === 0 && performance.now() >= notBeforeMs) {
        notBeforeMs = performance.now() + RELEASE_INTERVAL_MS;
        releaseStartMemory();
      }
    }
  };
}

const RELEASE_INTERVAL_MS = 300_000; // a collection stops the process for 0.2 s
