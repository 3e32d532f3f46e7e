import { DEFAULT_LIMITS } from '@toolmgr/core';
import type { WorkloadConfig } from '@toolmgr/plugins/workloads/state';

/** Time limit until a workload answers. A program may have to install its package first; a remote server does not. */
export function startDeadlineMs({ url, startTimeoutMs }: Pick<WorkloadConfig, 'url' | 'startTimeoutMs'>): number {
  return startTimeoutMs ?? (url === undefined ? DEFAULT_LIMITS.firstStartMs : REMOTE_MS);
}

const REMOTE_MS = 60_000;
