import { definePlugin } from '@toolmgr/core';
import { z } from 'zod';
import { RESTART_POLICY } from './back-off.ts';
import { createProcessRuntime } from './start.ts';

const ADDRESS = 'workloads/process';

/** Local commands as workloads. */
export default definePlugin({
  address: ADDRESS,
  summary: 'Runs local commands as workloads: exact argv, own process group, minimal environment, restarts.',
  config: z.strictObject({
    restart: z
      .strictObject({
        firstDelayMs: z.int().min(1).default(RESTART_POLICY.firstDelayMs).describe('wait before the first restart'),
        maxDelayMs: z.int().min(1).default(RESTART_POLICY.maxDelayMs).describe('longest wait between restarts'),
        resetAfterMs: z
          .int()
          .min(1)
          .default(RESTART_POLICY.resetAfterMs)
          .describe('life after which counting begins anew'),
        maxRestarts: z.int().min(0).default(RESTART_POLICY.maxRestarts).describe('restarts in a row before giving up'),
      })
      .prefault({})
      .describe('when a program that ended is started again'),
    startTimeoutMs: z
      .int()
      .min(1)
      .default(60_000)
      .describe('time a program that is started again has to listen on its port'),
    firstStartTimeoutMs: z
      .int()
      .min(1)
      .default(300_000)
      .describe('time for the first start of such a program, the installation of its package (npx, uvx) included'),
  }),
  apply(core, config) {
    core.slots.workloadRuntimes.register('process', createProcessRuntime(config));
  },
});
