import { join } from 'node:path';
import type { Log } from '@toolmgr/core';
import { type RunConfig, WORKLOAD_FILES, workloadDir } from '@toolmgr/plugins/kit/workloads';
import { followFile } from '../../workloads/planning/follow-file.ts';
import { type ProxyEnd, runProxy } from '../../workloads/proxy/proxy.ts';
import { removeWithSecrets } from '../../workloads/secrets/remove-with-secrets.ts';

/** A workload that runs in this process. */
export interface ForegroundRun {
  readonly state: string;
  readonly config: RunConfig;
  /** Gets the output of the program. */
  readonly write: (text: string) => void;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** It waits for its server however long that takes. */
  readonly isSupervised: boolean;
  /** Is called once, when the server has answered. */
  readonly onRunning: (url: string) => void;
}

/** Runs a stored workload in this process until `signal` aborts or its program ends, then removes it from disk. */
export async function runInForeground(run: ForegroundRun): Promise<ProxyEnd> {
  const { state, config, write, log, signal, isSupervised, onRunning } = run;
  const { name } = config;
  const over = new AbortController();
  const output = followFile(join(workloadDir(state, name), WORKLOAD_FILES.log), write, over.signal);
  try {
    return await runProxy({ state, name, log, signal, endsWithProgram: true, isSupervised, onRunning });
  } finally {
    over.abort();
    await output;
    const { left } = await removeWithSecrets(state, name);
    if (left !== undefined) write(`${left}\n`);
  }
}
