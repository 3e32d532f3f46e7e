import type { WorkloadConfig } from '../../plugins/workloads/state/workload-record.ts';

/** A workload configuration as `toolmgr run` writes it. */
export function workloadConfigOf(name: string, more: Partial<WorkloadConfig> = {}): WorkloadConfig {
  return {
    format: 1,
    name,
    group: 'default',
    target: 'node',
    transport: 'stdio',
    command: { file: process.execPath, args: ['server.js'] },
    env: {},
    cwd: '/',
    host: '127.0.0.1',
    createdAtMs: 1_800_000_000_000,
    ...more,
  };
}
