import { setTimeout as delay } from 'node:timers/promises';
import {
  type Backend,
  explainCause,
  type Log,
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
  readonly push: (snapshot: readonly Backend[]) => void;
  readonly signal: AbortSignal;
}

/**
 * Starts every workload, pushes those that can be reached, and stops them all when `signal` aborts.
 *
 * One that cannot be started is tried again with growing waits and delays no other; one that its runtime gave up
 * leaves the snapshot.
 * @throws GatewayFault SLOT_UNKNOWN when a runtime is not in the plan
 */
export async function serveWorkloads(serving: Serving): Promise<void> {
  const { workloads, runtimes, push } = serving;
  const chosen = workloads.map((spec) => ({ spec, runtime: runtimes.get(spec.runtime) }));
  const reached = new Map<string, Backend>();
  const tell = (): void => push(workloads.flatMap(({ name }) => reached.get(name) ?? []));
  await Promise.all(chosen.map(({ spec, runtime }) => serveOne(spec, runtime, serving, reached, tell)));
}

async function serveOne(
  spec: WorkloadSpec,
  runtime: WorkloadRuntime,
  { signal, stopMs, log }: Serving,
  reached: Map<string, Backend>,
  tell: () => void,
): Promise<void> {
  const handle = await startUntil(spec, runtime, signal, log);
  if (handle === undefined) return;
  reached.set(spec.name, { name: spec.name, ...handle.reach, metadata: { group: spec.group } });
  if (!signal.aborted) tell();
  const last = await Promise.race([handle.ended, aborted(signal)]);
  if (last === undefined) {
    await handle.stop(stopMs);
    return;
  }
  log.error('workload ended for good', { workload: spec.name, status: last.status, reason: last.message });
  reached.delete(spec.name);
  tell();
  await aborted(signal);
}

/** Tries until it starts; `undefined` when `signal` aborts first. Starting again is safe: nothing of it runs. */
async function startUntil(
  spec: WorkloadSpec,
  runtime: WorkloadRuntime,
  signal: AbortSignal,
  log: Log,
): Promise<WorkloadHandle | undefined> {
  for (let waitMs = FIRST_WAIT_MS; !signal.aborted; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
    try {
      return await runtime.start(spec, signal);
    } catch (cause) {
      if (signal.aborted) return undefined;
      log.error('workload cannot be started', { workload: spec.name, reason: explainCause(cause), nextTryMs: waitMs });
    }
    await delay(waitMs, undefined, { signal }).catch(() => {});
  }
  return undefined;
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;
