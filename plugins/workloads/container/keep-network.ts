import { setTimeout as delay } from 'node:timers/promises';
import { explainCause, within } from '@toolmgr/core';
import type { WorkloadHandle, WorkloadState } from '@toolmgr/plugins/kit/extension-points';
import { nextRestart, type RestartPolicy } from '@toolmgr/plugins/kit/workloads';
import type { Engine } from './engine.ts';

/** A started workload that may lose its isolated network. */
export interface NetworkedHandle extends WorkloadHandle {
  /** Whether it ended because its network sidecar ended. */
  readonly hasLostNetwork: boolean;
}

/** How a workload is started again. */
export interface KeptNetwork {
  readonly name: string;
  readonly engine: Engine;
  readonly restart: RestartPolicy;
  /** Starts containers and network again; the workload is reached as before. */
  again(signal: AbortSignal): Promise<NetworkedHandle>;
}

/**
 * Starts an isolated workload again when its network sidecar ends, with back-off. That happens when the engine is started
 * again, or when the sidecar is removed by hand: containers in the network of one that has ended cannot be started.
 * While the engine does not answer, nothing is tried or counted, and the workload is `unhealthy`.
 */
export function keepNetwork(first: NetworkedHandle, { name, engine, restart, again }: KeptNetwork): WorkloadHandle {
  const stopping = new AbortController();
  const { signal } = stopping;
  let current = first;
  let restarts = 0;
  let startedAtMs = Date.now();
  let meanwhile: WorkloadState | undefined;
  const ended = watch();
  return {
    get state() {
      return meanwhile ?? total(current.state);
    },
    reach: first.reach,
    ended,
    logs: () => current.logs(),
    async stop(graceMs) {
      stopping.abort();
      await current.stop(graceMs);
      await ended;
    },
  };

  async function watch(): Promise<WorkloadState> {
    let inARow = 0;
    let problem = SIDECAR_ENDED;
    for (;;) {
      if (problem === SIDECAR_ENDED) {
        const last = await current.ended;
        if (!current.hasLostNetwork || signal.aborted) return finish(last);
      }
      const next = nextRestart(restart, inARow, Date.now() - startedAtMs);
      if (next === undefined) {
        return finish({
          name,
          status: 'error',
          restarts: 0,
          message: `given up after ${inARow} restarts in a row: ${problem}`,
        });
      }
      inARow = next.restarts;
      meanwhile = {
        name,
        status: 'starting',
        restarts,
        message: `${problem}; started again in ${next.delayMs / 1_000} s`,
      };
      await pause(next.delayMs);
      await untilEngineAnswers();
      problem = (await startAgain()) ?? SIDECAR_ENDED;
      startedAtMs = Date.now();
      if (signal.aborted) return finish({ name, status: 'stopped', restarts: 0 });
    }
  }

  /** Resolves with what is wrong; `undefined` when it runs again. */
  async function startAgain(): Promise<string | undefined> {
    if (signal.aborted) return undefined;
    try {
      current = await again(signal);
    } catch (cause) {
      return explainCause(cause);
    }
    restarts++;
    meanwhile = undefined;
    if (signal.aborted) await current.stop(STOP_MS); // `stop` ended the handle before this one
    return undefined;
  }

  async function untilEngineAnswers(): Promise<void> {
    while (!signal.aborted && !(await isThere(engine))) {
      meanwhile = { name, status: 'unhealthy', restarts, message: 'the container engine does not answer' };
      await pause(PING_MS);
    }
  }

  function pause(ms: number): Promise<void> {
    return delay(ms, undefined, { signal }).catch(() => {});
  }

  function total(state: WorkloadState): WorkloadState {
    return { ...state, restarts: state.restarts + restarts };
  }

  function finish(last: WorkloadState): WorkloadState {
    meanwhile = total(last);
    return meanwhile;
  }
}

/** What is wrong with a workload that lost its network. */
export const SIDECAR_ENDED = 'its network sidecar ended, so it has no network';
async function isThere({ api }: Engine): Promise<boolean> {
  const answered = api.ping().then(
    () => true,
    () => false,
  );
  return (await within(PING_MS, undefined, answered)) === true;
}

const PING_MS = 1_000;
const STOP_MS = 5_000;
