import { type RunConfig, runConfig } from '@toolmgr/plugins/kit/workloads';

/** A workload configuration as `toolmgr run` writes it. */
export function workloadConfigOf(name: string, more: Partial<RunConfig> = {}): RunConfig {
  return {
    ...runConfig.parse({
      schema_version: 'v0.1.0',
      name,
      transport: 'stdio',
      process: { target: 'node', file: process.execPath, args: [], cwd: '/' },
      cmd_args: ['server.js'],
      created_at: '2027-01-15T08:00:00.000Z',
    }),
    ...more,
  };
}
