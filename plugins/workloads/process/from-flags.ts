import { present } from '@toolmgr/core';
import { type FromFlags, NO_RESTARTS } from '@toolmgr/plugins/kit/workloads';

/** A program of this machine. */
export const fromFlags: FromFlags = {
  plan(config, { restartsProgram, deadlineMs, logFile, env }, use) {
    const { process: program, cmd_args, target_host: targetHost, target_port: targetPort } = config;
    if (program === undefined) return {};
    const { file, args, cwd } = program;
    return {
      plugins: [{ use, with: { firstStartTimeoutMs: deadlineMs, ...(restartsProgram ? {} : NO_RESTARTS) } }],
      workload: {
        ...{ runtime: 'process', command: { file, args: [...args, ...cmd_args] }, cwd, logFile, env },
        ...present({ targetHost, targetPort }),
      },
    };
  },
};
