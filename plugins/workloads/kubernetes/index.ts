import { definePlugin, present } from '@toolmgr/core';
import { workloadRuntimes } from '@toolmgr/plugins/kit/extension-points';
import { createApi, inClusterConnection } from '@toolmgr/plugins/kit/kubernetes';
import { z } from 'zod';
import type { Cluster } from './pod-process.ts';
import { createPodRuntime, KUBERNETES } from './pod-runtime.ts';

const ADDRESS = 'workloads/kubernetes';

/** Stdio servers in pods of Kubernetes. */
export default definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  summary: 'Attaches to the container of a pod of Kubernetes and serves its stdio server.',
  config: z.strictObject({
    serviceAccountFolder: z
      .string()
      .min(1)
      .optional()
      .describe('folder with `token` and `ca.crt`; default: where Kubernetes mounts the service account'),
  }),
  apply(core, { serviceAccountFolder: folder }) {
    let found: Promise<Cluster & AsyncDisposable> | undefined;
    const connect = async (): Promise<Cluster & AsyncDisposable> => {
      const connection = await inClusterConnection({ env: core.environment, ...present({ folder }) });
      const api = createApi(connection);
      return { connection, api, [Symbol.asyncDispose]: () => api[Symbol.asyncDispose]() };
    };
    const cluster = (): Promise<Cluster> => {
      found ??= connect().catch((cause: unknown) => {
        found = undefined;
        throw cause;
      });
      return found;
    };
    const { runtime, launcher } = createPodRuntime(cluster, (workload, reason) =>
      core.log.info('the pod is not ready', { workload, reason }),
    );
    core.slot(workloadRuntimes).register(KUBERNETES, runtime);
    core.slots.stdioLaunchers.register(KUBERNETES, launcher);
    core.hooks.stopping.tapPromise(ADDRESS, async () => {
      const used = await found?.catch(() => undefined);
      await used?.[Symbol.asyncDispose]();
    });
  },
});
