import { definePlugin } from '@toolmgr/core';
import { workloadRuntimes } from '@toolmgr/plugins/kit/extension-points';
import { restartSettings } from '@toolmgr/plugins/kit/workloads';
import { z } from 'zod';
import { connectEngine } from './engine.ts';
import { createContainerRuntime } from './start.ts';
import { LAUNCHER } from './stdio-workload.ts';

const ADDRESS = 'workloads/container';

/** Container images as workloads. */
export default definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  summary: 'Runs container images as workloads on Docker or Podman: no capabilities, no new privileges.',
  config: z.strictObject({
    socket: z
      .string()
      .min(1)
      .optional()
      .describe('unix socket of the engine; without it DOCKER_HOST, then the usual sockets of Docker and of Podman'),
    firstStartTimeoutMs: z
      .int()
      .min(1)
      .default(300_000)
      .describe('time in which a server with an HTTP transport must answer; pulling its image is not part of it'),
    startTimeoutMs: z.int().min(1).default(60_000).describe('the same for a server that is started again'),
    restart: restartSettings.describe('when the container of a server with an HTTP transport is started again'),
  }),
  apply(core, config) {
    const dockerHost = config.socket === undefined ? {} : { DOCKER_HOST: `unix://${config.socket}` };
    const { runtime, launcher } = createContainerRuntime(
      () => connectEngine({ ...core.environment, ...dockerHost }),
      config,
    );
    core.slot(workloadRuntimes).register('container', runtime);
    core.slots.stdioLaunchers.register(LAUNCHER, launcher);
  },
});
