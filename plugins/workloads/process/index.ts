import { definePlugin } from '@toolmgr/core';
import { z } from 'zod';
import { createProcessRuntime } from './process-runtime.ts';
import { RESTART_POLICY } from './restart-policy.ts';

const ADDRESS = 'workloads/process';

/** Runs local commands as workloads. */
export default definePlugin({
  address: ADDRESS,
  summary: 'Runs local commands as workloads: exact argv, own process group, minimal environment, restarts.',
  config: z.strictObject({
    restart: z
      .strictObject({
        firstDelayMs: z.int().min(1).default(RESTART_POLICY.firstDelayMs).describe('delay before the first restart'),
        maxDelayMs: z.int().min(1).default(RESTART_POLICY.maxDelayMs).describe('longest delay between restarts'),
        resetAfterMs: z
          .int()
          .min(1)
          .default(RESTART_POLICY.resetAfterMs)
          .describe('running time after which the number of restarts is reset'),
        maxRestarts: z.int().min(0).default(RESTART_POLICY.maxRestarts).describe('maximum consecutive restarts'),
      })
      .prefault({})
      .describe('restart policy of an ended program'),
    startTimeoutMs: z.int().min(1).default(60_000).describe('time for a restarted program to listen on its port'),
    firstStartTimeoutMs: z
      .int()
      .min(1)
      .default(300_000)
      .describe('time for the first start, including the installation of its package (npx, uvx)'),
  }),
  apply(core, config) {
    core.slots.workloadRuntimes.register('process', createProcessRuntime(config));
  },
});
