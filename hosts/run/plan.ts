import type { PlanInput } from '@toolmgr/core';
import type { WorkloadConfig } from '@toolmgr/plugins/workloads/state';
import { isLoopbackHost } from '../http/listen.ts';
import { startDeadlineMs } from './start-deadline.ts';

/** Parameters of one start of a workload. */
export interface RunStart {
  /** Identifies every process of this start. */
  readonly runId: string;
  /** File for the program's output. */
  readonly logFile: string;
  /** Restarts a program that ends. Default: true. */
  readonly restartsProgram?: boolean;
}

/** Environment variable that identifies the processes of one start, so that orphans of a killed proxy are found. */
export const RUN_ID_VARIABLE = 'TOOLMGR_RUN_ID';

/** The plan of a workload's proxy: a gateway with one backend, whose names are unchanged. Pure. */
export function planFromRun(config: WorkloadConfig, { runId, logFile, restartsProgram = true }: RunStart): PlanInput {
  const { name, group, transport, command, url, env, cwd, targetPort } = config;
  const isRemote = url !== undefined;
  const workload = isRemote
    ? { runtime: 'remote-url', name, group, transport, url }
    : {
        ...{ runtime: 'process', name, group, transport, command, cwd, logFile },
        env: { ...env, [RUN_ID_VARIABLE]: runId },
        ...(targetPort === undefined ? {} : { targetPort }),
      };
  return {
    name,
    plugins: [
      { use: 'secrets/environment' },
      { use: 'incoming-auth/anonymous' },
      { use: 'outgoing-auth/unauthenticated' },
      isRemote
        ? { use: 'workloads/remote-url' }
        : { use: 'workloads/process', with: processSettings(config, restartsProgram) },
      { use: 'backend-sources/workloads', with: { workloads: [workload] } },
    ],
    // the client has its own time limit, and that of this hop must not be shorter
    timeouts: { defaultMs: CALL_TIMEOUT_MS },
    endpoint: {
      loopback: isLoopbackHost(config.host),
      strictProtocolVersion: config.strictProtocolValidation === true,
    },
    limits: { stopMs: STOP_MS, ...(isRemote ? {} : { firstStartMs: startDeadlineMs(config) }) },
  };
}

function processSettings(config: WorkloadConfig, restartsProgram: boolean) {
  return { firstStartTimeoutMs: startDeadlineMs(config), ...(restartsProgram ? {} : { restart: { maxRestarts: 0 } }) };
}

const CALL_TIMEOUT_MS = 600_000;
const STOP_MS = 5_000;
