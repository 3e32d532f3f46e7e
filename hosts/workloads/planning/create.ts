import { GatewayFault } from '@toolmgr/core';
import { type RunConfig, readWorkload, readWorkloadSecrets } from '@toolmgr/plugins/kit/workloads';
import { UsageError } from '../../shared/usage-error.ts';
import type { NewWorkload } from '../config/config-from-flags.ts';
import { planFromRun } from '../proxy/plan.ts';
import { removeWithSecrets } from '../secrets/remove-with-secrets.ts';
import { readUserSecrets } from '../secrets/start-secrets.ts';
import { addWorkload } from './add-workload.ts';
import { buildPackageImage, buildStep } from './build-image.ts';
import { checkPlan } from './check-plan.ts';
import { INTERRUPTED } from './launch.ts';
import { type FailedStart, type Started, startWorkload } from './start.ts';
import type { StartWork, Work } from './work.ts';

/** A workload that was made and answers; or why it does not, and that it was removed. `left`: a secret that stayed. */
export type Created = Exclude<Started, FailedStart> | (FailedStart & { readonly left?: string });

/**
 * Makes a workload of a configuration, starts it and waits until it answers. One that does not answer is removed, so that the same
 * request can be repeated.
 * @throws UsageError when a setting is wrong, or the name or the port is taken
 */
export async function createWorkload(state: string, made: NewWorkload, work: StartWork): Promise<Created> {
  await checkNewWorkload(made);
  // a name that is taken is refused before a long build
  if ((await readWorkload(state, made.config.name)) === undefined) {
    const problem = await buildImage(made.config, work);
    if (problem !== undefined) return { kind: 'failed', reason: problem, lines: [] };
  }
  const id = await addWorkload(state, made.config, made.secrets);
  return startNew(state, made.config, id, work);
}

/** Checks everything that can be checked before something is made. `stored`: state folder of a workload that has secrets. @throws UsageError, or GatewayFault for a missing secret */
export async function checkNewWorkload({ config, secrets }: NewWorkload, stored?: string): Promise<void> {
  requireSystem();
  const kept = stored === undefined ? {} : await readWorkloadSecrets(stored, config.name);
  const all = { ...kept, ...secrets };
  await checkPlan(await planFromRun(config, { runId: '', secrets: all }));
  await readUserSecrets(config, all);
}

/** Refuses Windows. @throws UsageError */
export function requireSystem(): void {
  if (process.platform !== 'win32') return;
  throw new UsageError('workloads need process groups, which Windows does not have: use WSL, or toolmgr up');
}

/** Starts a workload that was just added under `id`; removes it when it does not answer. */
export async function startNew(state: string, config: RunConfig, id: string, work: StartWork): Promise<Created> {
  const started = await startWorkload(state, config, work);
  if (started.kind === 'running') return started;
  const { left } = await removeWithSecrets(state, config.name, id);
  return left === undefined ? started : { ...started, left };
}

/** Builds the image of a package and reports its steps; resolves with the reason when that fails. */
export async function buildImage(config: RunConfig, { signal, report }: Work): Promise<string | undefined> {
  const onLine = (line: string): void => {
    const step = buildStep(line);
    if (step !== undefined) report(step);
  };
  try {
    await buildPackageImage(config, '/', (plan, act) => {
      for (const warning of plan.warnings) report(warning);
      return act({ signal, onLine });
    });
    return undefined;
  } catch (cause) {
    if (signal.aborted) return INTERRUPTED;
    if (cause instanceof GatewayFault) return cause.message;
    throw cause;
  }
}
