import { setTimeout as delay } from 'node:timers/promises';
import {
  type Backend,
  backOffMs,
  type ExpectedBackend,
  explainCause,
  type Log,
  type PushBackends,
  type Registry,
  untilAborted,
} from '@toolmgr/core';
import type {
  WorkloadState as RuntimeState,
  WorkloadHandle,
  WorkloadRuntime,
  WorkloadSpec,
} from '@toolmgr/plugins/kit/extension-points';

/** What {@link serveWorkloads} needs. */
export interface ServeOptions {
  readonly workloads: readonly (WorkloadSpec & { readonly runtime: string })[];
  readonly runtimes: Registry<WorkloadRuntime>;
  /** Milliseconds for a workload to end before it is killed. */
  readonly stopMs: number;
  readonly log: Log;
  readonly push: PushBackends;
  /** Called with the first state of a started workload, and with each later one. */
  readonly changed?: (state: RuntimeState) => void;
  now(): number;
  readonly signal: AbortSignal;
}

/** How a workload is served: running, expected, or neither after its runtime gave it up. */
interface Serving {
  backend: Backend | undefined;
  expected: ExpectedBackend | undefined;
}

/**
 * Starts every workload, pushes the running ones, and stops all when `signal` aborts. Starting workloads are pushed as
 * expected.
 *
 * A workload that cannot be started is retried with back-off without delaying others; one that its runtime gave up is removed
 * from the snapshot.
 * @throws GatewayFault SLOT_UNKNOWN when a runtime is not in the plan
 */
export async function serveWorkloads(options: ServeOptions): Promise<void> {
  const { workloads, runtimes, push } = options;
  const chosen = workloads.map((spec) => ({ spec, runtime: runtimes.get(spec.runtime) }));
  const all = chosen.map(({ spec, runtime }) => {
    const state: Serving = { backend: undefined, expected: { name: spec.name, sinceMs: options.now() } };
    return { spec, runtime, state };
  });
  const pushSnapshot = (): void =>
    push(
      all.flatMap(({ state }) => state.backend ?? []),
      all.flatMap(({ state }) => state.expected ?? []),
    );
  pushSnapshot();
  await Promise.all(all.map(({ spec, runtime, state }) => serveOne(spec, runtime, options, state, pushSnapshot)));
}

async function serveOne(
  spec: WorkloadSpec,
  runtime: WorkloadRuntime,
  { signal, stopMs, log, changed = () => {} }: ServeOptions,
  state: Serving,
  pushSnapshot: () => void,
): Promise<void> {
  const hasFailed = (): void => {
    if (state.expected === undefined || state.expected.hasFailed) return;
    state.expected = { ...state.expected, hasFailed: true };
    pushSnapshot();
  };
  const handle = await startUntil(spec, runtime, signal, log, hasFailed);
  state.expected = undefined;
  if (handle === undefined) return;
  state.backend = {
    name: spec.name,
    ...handle.reach,
    metadata: { group: spec.group },
    ...(spec.sessions === undefined ? {} : { sessions: spec.sessions }),
  };
  if (!signal.aborted) pushSnapshot();
  const endReports = reportChanges(handle, changed);
  const last = await Promise.race([handle.ended, untilAborted(signal)]);
  endReports();
  if (last === undefined) {
    await handle.stop(stopMs);
    return;
  }
  const { status, message: reason } = last;
  const fields = { workload: spec.name, status, ...(reason === undefined ? {} : { reason }), ...exitCodeIn(last) };
  if (status === 'stopped') log.info('workload ended', fields);
  else log.error('workload was given up', fields);
  changed(last);
  state.backend = undefined;
  pushSnapshot();
  await untilAborted(signal);
}

/** Compares the state with the last one every second; a runtime makes a new object for each change. */
function reportChanges(handle: WorkloadHandle, changed: (state: RuntimeState) => void): () => void {
  let last: RuntimeState | undefined;
  const report = (): void => {
    const { state } = handle;
    if (state === last) return;
    last = state;
    changed(state);
  };
  report();
  const timer = setInterval(report, REPORT_MS);
  timer.unref();
  return () => clearInterval(timer);
}

const REPORT_MS = 1_000;

/** Retries until the workload has started; `undefined` when `signal` aborts first. */
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

const RETRY = { firstMs: 1_000, maxMs: 30_000 };
