import { setTimeout as delay } from 'node:timers/promises';
import {
  type Backend,
  type BackOff,
  backOffMs,
  type ExpectedBackend,
  explainCause,
  type Log,
  type PushBackends,
  type Registry,
  type WorkloadHandle,
  type WorkloadRuntime,
  type WorkloadSpec,
} from '@toolmgr/core';

/** The workloads of one gateway and what they need. */
export interface Serving {
  readonly workloads: readonly (WorkloadSpec & { readonly runtime: string })[];
  readonly runtimes: Registry<WorkloadRuntime>;
  /** Time a workload has to end by itself. */
  readonly stopMs: number;
  readonly log: Log;
  readonly push: PushBackends;
  now(): number;
  readonly signal: AbortSignal;
}

/** Where one workload stands: reached, expected since a time, or neither once its runtime gave it up. */
interface Standing {
  backend: Backend | undefined;
  expected: ExpectedBackend | undefined;
}

/**
 * Starts every workload, pushes those that can be reached, and stops them all when `signal` aborts. Those that are
 * being started are pushed as expected.
 *
 * One that cannot be started is tried again with growing waits and delays no other; one that its runtime gave up
 * leaves the snapshot.
 * @throws GatewayFault SLOT_UNKNOWN when a runtime is not in the plan
 */
export async function serveWorkloads(serving: Serving): Promise<void> {
  const { workloads, runtimes, push } = serving;
  const chosen = workloads.map((spec) => ({ spec, runtime: runtimes.get(spec.runtime) }));
  const all = chosen.map(({ spec, runtime }) => {
    const standing: Standing = { backend: undefined, expected: { name: spec.name, sinceMs: serving.now() } };
    return { spec, runtime, standing };
  });
  const tell = (): void =>
    push(
      all.flatMap(({ standing }) => standing.backend ?? []),
      all.flatMap(({ standing }) => standing.expected ?? []),
    );
  tell();
  await Promise.all(all.map(({ spec, runtime, standing }) => serveOne(spec, runtime, serving, standing, tell)));
}

async function serveOne(
  spec: WorkloadSpec,
  runtime: WorkloadRuntime,
  { signal, stopMs, log }: Serving,
  standing: Standing,
  tell: () => void,
): Promise<void> {
  const hasFailed = (): void => {
    if (standing.expected === undefined || standing.expected.hasFailed) return;
    standing.expected = { ...standing.expected, hasFailed: true };
    tell();
  };
  const handle = await startUntil(spec, runtime, signal, log, hasFailed);
  standing.expected = undefined;
  if (handle === undefined) return;
  standing.backend = { name: spec.name, ...handle.reach, metadata: { group: spec.group } };
  if (!signal.aborted) tell();
  const last = await Promise.race([handle.ended, aborted(signal)]);
  if (last === undefined) {
    await handle.stop(stopMs);
    return;
  }
  const { status, message: reason } = last;
  log.error('workload ended for good', { workload: spec.name, status, reason, ...exitCodeIn(last) });
  standing.backend = undefined;
  tell();
  await aborted(signal);
}

/** Tries until it starts; `undefined` when `signal` aborts first. Starting again is safe: nothing of it runs. */
async function startUntil(
  spec: WorkloadSpec,
  runtime: WorkloadRuntime,
  signal: AbortSignal,
  log: Log,
  hasFailed: () => void,
): Promise<WorkloadHandle | undefined> {
  for (let attempt = 1; !signal.aborted; attempt++) {
    try {
      return await runtime.start(spec, signal);
    } catch (cause) {
      if (signal.aborted) return undefined;
      hasFailed();
      const nextTryMs = backOffMs(attempt, RETRY);
      log.error('workload cannot be started', {
        workload: spec.name,
        reason: explainCause(cause),
        nextTryMs,
        ...exitCodeIn(cause),
      });
      await delay(nextTryMs, undefined, { signal }).catch(() => {});
    }
  }
  return undefined;
}

function exitCodeIn(end: unknown): { readonly exitCode?: number } {
  const { exitCode } = end as { readonly exitCode?: unknown };
  return typeof exitCode === 'number' ? { exitCode } : {};
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}

const RETRY: BackOff = { firstMs: 1_000, maxMs: 30_000 };
