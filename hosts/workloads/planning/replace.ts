import { isDeepStrictEqual } from 'node:util';
import { markProcess } from '@toolmgr/plugins/kit/files';
import {
  desiredOf,
  finishReplacement,
  type RunConfig,
  readWorkload,
  replaceConfig,
  restoreConfig,
  type WorkloadRecord,
  whyNotRestarted,
} from '@toolmgr/plugins/kit/workloads';
import { buildImage, checkNewWorkload } from './create.ts';
import { oneAtATime } from './one-at-a-time.ts';
import { type FailedStart, startWorkload } from './start.ts';
import { releaseWorkload, stopWorkload } from './stop.ts';
import type { StartWork } from './work.ts';

/** How a replacement ended. */
export type Replaced =
  /** `changed`: another one changed the configuration meanwhile, which counts. */
  | { readonly kind: 'gone' | 'unchanged' | 'changed' }
  /** The new configuration is stored; `record` is that of the new start, or of the workload that stays stopped. */
  | { readonly kind: 'replaced'; readonly record: WorkloadRecord }
  /** The old configuration was not changed, or is there again; `runsAgain` says whether it runs again. */
  | (FailedStart & { readonly restored: boolean; readonly runsAgain: boolean });

/**
 * Gives a workload another configuration. One that should run is stopped and started with it. If it does not start, the old
 * configuration is restored and started again; the old one is on disk until the new one answers.
 *
 * `secrets` are kept with the workload beside those that it has. `expected`: the configuration that the new one was made from. `starts`:
 * also one that is stopped.
 * @throws UsageError when a setting is wrong, GatewayFault for a missing secret; nothing was changed then
 */
export function replaceWorkload(
  state: string,
  next: NextConfig,
  work: StartWork,
  options: ReplaceOptions = {},
): Promise<Replaced> {
  return oneAtATime(`${state}/${next.config.name}`, () => replaceNow(state, next, work, options));
}

/** Options of {@link replaceWorkload}. */
export interface ReplaceOptions {
  readonly starts?: boolean;
  readonly expected?: RunConfig;
}

/** Another configuration of a workload, and the secrets that come with it. */
export interface NextConfig {
  readonly config: RunConfig;
  readonly secrets: Readonly<Record<string, string>>;
}

async function replaceNow(
  state: string,
  next: NextConfig,
  work: StartWork,
  { starts = false, expected }: ReplaceOptions,
): Promise<Replaced> {
  const { config } = next;
  const { name } = config;
  const before = await readWorkload(state, name);
  if (before === undefined) return { kind: 'gone' };
  if (expected !== undefined && !isDeepStrictEqual(before.config, expected)) return { kind: 'changed' };
  if (before.config !== undefined && isDeepStrictEqual(before.config, config)) return { kind: 'unchanged' };
  const inForeground = whyNotRestarted(before);
  if (inForeground !== undefined) return { ...failed(inForeground), restored: false, runsAgain: true };
  await checkNewWorkload({ ...next, warnings: [] }, state);
  const problem = await buildImage(config, work);
  if (problem !== undefined) return { ...failed(problem), restored: false, runsAgain: before.alive };
  const shouldRun = starts || before.alive || desiredOf(before.status) === 'running';
  const by = await markProcess(process.pid);
  try {
    if (shouldRun) {
      if (before.alive) work.report(`${name} stops`);
      const stopped = await stopWorkload(state, name, { again: { by } });
      if (stopped.kind === 'gone') return { kind: 'gone' };
      if (stopped.kind === 'left') return { ...failed(stopped.problem), restored: false, runsAgain: false };
    }
    return await storeAndStart(state, next, before, work, shouldRun);
  } finally {
    await releaseWorkload(state, name, by);
  }
}

async function storeAndStart(
  state: string,
  { config, secrets }: NextConfig,
  before: WorkloadRecord,
  work: StartWork,
  shouldRun: boolean,
): Promise<Replaced> {
  const { name } = config;
  // a login may have stored other tokens since `before` was read
  const stored = await replaceConfig(state, name, config, secrets, { id: before.status.id, expected: before.config });
  if (stored === 'changed' && shouldRun) {
    const now = await readWorkload(state, name);
    if (now?.config !== undefined) await startWorkload(state, now.config, work);
  }
  if (stored !== 'replaced') return { kind: stored };
  if (!shouldRun) {
    await finishReplacement(state, name);
    const record = await readWorkload(state, name);
    return record === undefined ? { kind: 'gone' } : { kind: 'replaced', record };
  }
  const started = await startWorkload(state, config, work);
  if (started.kind === 'running') {
    await finishReplacement(state, name);
    return { kind: 'replaced', record: started.record };
  }
  return { ...started, restored: true, runsAgain: await goBack(state, before, work) };
}

/** Restores the old configuration and starts it; `false` when it does not run. Not ended by the caller's signal. */
async function goBack(state: string, { name, config }: WorkloadRecord, { report }: StartWork): Promise<boolean> {
  report(`${name} gets its old configuration back`);
  const old = (await restoreConfig(state, name)) ?? config; // the supervisor may have restored it
  if (old === undefined) return false;
  const started = await startWorkload(state, old, { signal: AbortSignal.timeout(RESTORE_MS), report });
  return started.kind === 'running';
}

/**
 * Ends a replacement that a killed process left: what runs keeps its new configuration, any other gets its old one back. `waits`
 * while the new one starts.
 */
export function recoverReplacement(state: string, name: string): Promise<'kept' | 'restored' | 'waits'> {
  return oneAtATime(`${state}/${name}`, async () => {
    const record = await readWorkload(state, name);
    if (record === undefined) return 'kept';
    if (record.heldBy !== undefined || (record.alive && record.status.status !== 'running')) return 'waits';
    if (!record.alive && (await restoreConfig(state, name)) !== undefined) return 'restored';
    await finishReplacement(state, name);
    return 'kept';
  });
}

function failed(reason: string): FailedStart {
  return { kind: 'failed', reason, lines: [] };
}

const RESTORE_MS = 300_000;
