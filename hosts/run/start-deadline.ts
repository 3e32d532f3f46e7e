import { DEFAULT_LIMITS } from '@toolmgr/core';
import { durationMs } from '@toolmgr/plugins';
import type { RunConfig } from '@toolmgr/plugins/workloads/state';

/** Time limit until a workload answers. A program may have to install its package first; a remote server does not. */
export function startDeadlineMs({ process: program }: Pick<RunConfig, 'process'>): number {
  if (program === undefined) return REMOTE_MS;
  const { start_timeout: given } = program;
  return (given === undefined ? undefined : durationMs(given)) ?? DEFAULT_LIMITS.firstStartMs;
}

const REMOTE_MS = 60_000;
