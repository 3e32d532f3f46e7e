import { definePlugin } from '@toolmgr/core';
import { workloadRuntimes } from '@toolmgr/plugins/kit/extension-points';
import { restartSettings } from '@toolmgr/plugins/kit/workloads';
import { z } from 'zod';
import { createProcessRuntime } from './process-runtime.ts';

const ADDRESS = 'workloads/process';

/** Runs local commands as workloads. */
export default definePlugin({
  address: ADDRESS,
  stability: 'stable',
  summary: 'Runs local commands as workloads: exact argv, own process group, minimal environment, restarts.',
  config: z.strictObject({
    restart: restartSettings.describe('restart policy of an ended program'),
    startTimeoutMs: z.int().min(1).default(60_000).describe('time for a restarted program to listen on its port'),
    firstStartTimeoutMs: z
      .int()
      .min(1)
      .default(300_000)
      .describe('time for the first start, including the installation of its package (npx, uvx)'),
  }),
  apply(core, config) {
    core.slot(workloadRuntimes).register('process', createProcessRuntime({ ...config, environment: core.environment }));
  },
});
