import type { PlanInput } from '@toolmgr/core';
import type { WorkloadConfig } from '@toolmgr/plugins/workloads/state';
import { isLoopbackHost } from '../http/listen.ts';
import { startDeadlineMs } from './start-deadline.ts';

/** What a start of a workload adds to its configuration. */
export interface RunStart {
  /** Marks every process of this start. */
  readonly runId: string;
  /** Where the program's output goes. */
  readonly logFile: string;
  /** A program that ends is started again; true unless it is false. */
  readonly keepsUp?: boolean;
}

/** Environment variable that marks every process of one start, so that orphans of a killed proxy are found. */
export const RUN_ID_VARIABLE = 'TOOLMGR_RUN_ID';

/** The plan of a workload's proxy: a gateway with one backend, whose names stay as they are. Pure. */
export function planFromRun(config: WorkloadConfig, { runId, logFile, keepsUp = true }: RunStart): PlanInput {
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
      { use: 'incoming-auth/anonymous' },
      { use: 'outgoing-auth/unauthenticated' },
      isRemote ? { use: 'workloads/remote-url' } : { use: 'workloads/process', with: processSettings(config, keepsUp) },
      { use: 'backend-sources/workloads', with: { workloads: [workload] } },
    ],
    // the client in front has its own time limit; this hop must not be the shorter one
    timeouts: { defaultMs: CALL_TIMEOUT_MS },
    endpoint: {
      loopback: isLoopbackHost(config.host),
      strictProtocolVersion: config.strictProtocolValidation === true,
    },
    limits: { stopMs: STOP_MS, ...(isRemote ? {} : { firstStartMs: startDeadlineMs(config) }) },
  };
}

function processSettings(config: WorkloadConfig, keepsUp: boolean) {
  return { firstStartTimeoutMs: startDeadlineMs(config), ...(keepsUp ? {} : { restart: { maxRestarts: 0 } }) };
}

const CALL_TIMEOUT_MS = 600_000;
const STOP_MS = 5_000;
