import { DEFAULT_LIMITS } from '@toolmgr/core';
import type { WorkloadConfig } from '@toolmgr/plugins/workloads/state';

/** How long a workload may take until it answers: a program may install its package first, a remote server is there. */
export function startDeadlineMs({ url, startTimeoutMs }: Pick<WorkloadConfig, 'url' | 'startTimeoutMs'>): number {
  return startTimeoutMs ?? (url === undefined ? DEFAULT_LIMITS.firstStartMs : REMOTE_MS);
}

const REMOTE_MS = 60_000;
