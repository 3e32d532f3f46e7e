import { join } from 'node:path';
import { createLog } from '@toolmgr/core';
import { type RunConfig, WORKLOAD_FILES, workloadDir } from '@toolmgr/plugins/workloads/state';
import { type ProxyEnd, runProxy } from '../proxy/proxy.ts';
import { removeWithSecrets } from '../secrets/remove-with-secrets.ts';
import { followFile } from '../workloads/follow-file.ts';

/**
 * Runs a stored workload in this process until `signal` aborts or its program ends, then removes it from disk.
 * `isSupervised`: it waits for its server however long that takes. `write` gets the program's output and the proxy's warnings.
 */
export async function runInForeground(
  state: string,
  config: RunConfig,
  write: (text: string) => void,
  signal: AbortSignal,
  isSupervised = false,
): Promise<ProxyEnd> {
  const { name } = config;
  const over = new AbortController();
  const output = followFile(join(workloadDir(state, name), WORKLOAD_FILES.log), write, over.signal);
  try {
    return await runProxy({
      state,
      name,
      log: createLog(config.debug ? 'debug' : 'warn', write),
      signal,
      endsWithProgram: true,
      isSupervised,
    });
  } finally {
    over.abort();
    await output;
    const { left } = await removeWithSecrets(state, name);
    if (left !== undefined) write(`${left}\n`);
  }
}
