import type { FromFlags } from '@toolmgr/plugins/kit/workloads';

/** A container of a pod, which is one process: one session with it serves all clients. */
export const fromFlags: FromFlags = {
  plan({ pod }, { logFile }, use) {
    if (pod === undefined) return {};
    return { plugins: [{ use }], workload: { runtime: 'kubernetes', pod, logFile, sessions: 'single' } };
  },
};
