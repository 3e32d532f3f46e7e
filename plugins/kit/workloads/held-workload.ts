import type { WorkloadHandle, WorkloadState } from './runtimes.ts';

/** A workload without a process of its own: it is running until it is stopped. */
export function heldWorkload(name: string, reach: WorkloadHandle['reach']): WorkloadHandle {
  let state: WorkloadState = { name, status: 'running', startedAtMs: Date.now(), restarts: 0 };
  const { promise: ended, resolve: end } = Promise.withResolvers<WorkloadState>();
  return {
    get state() {
      return state;
    },
    reach,
    ended,
    logs: () => '',
    async stop() {
      state = { name, status: 'stopped', restarts: 0 };
      end(state);
    },
  };
}
