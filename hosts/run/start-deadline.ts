import { basename } from 'node:path';
import type { WorkloadConfig } from '@toolmgr/plugins';

/** How long a workload may take until it answers: a package that npx has to fetch takes its time. */
export function startDeadlineMs({ command }: Pick<WorkloadConfig, 'command'>): number {
  return command !== undefined && basename(command.file) === 'npx' ? FETCHED_MS : LOCAL_MS;
}

const LOCAL_MS = 60_000;
const FETCHED_MS = 300_000;
