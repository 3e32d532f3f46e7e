import { DEFAULT_LIMITS } from '@toolmgr/core';
import { durationMs } from '@toolmgr/plugins/kit/settings';
import type { RunConfig } from '@toolmgr/plugins/kit/workloads';

/** Time limit until a workload answers. A program may have to install its package first; a remote server does not. */
export function startDeadlineMs({
  process: program,
  image,
  pod,
}: Pick<RunConfig, 'process' | 'image' | 'pod'>): number {
  if (image !== undefined) return CONTAINER_MS;
  if (pod !== undefined) return POD_MS;
  if (program === undefined) return REMOTE_MS;
  const { start_timeout: given } = program;
  return (given === undefined ? undefined : durationMs(given)) ?? DEFAULT_LIMITS.firstStartMs;
}

/** Then the connection is made again: another proxy may have left a server that reads no more input. */
const POD_MS = 120_000;
const REMOTE_MS = 60_000;
/** Pulling an image, then the first start of its server. */
const CONTAINER_MS = 900_000;
