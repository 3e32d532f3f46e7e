import { spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { join } from 'node:path';
import type { KubeCluster } from './kube.ts';
import { rig } from './rig.ts';

/** Why no nodes can be simulated; `undefined` where `startKwok` works. @throws Error in CI when the rig is missing */
export function missingKwok(): string | undefined {
  const found = rig('kwok');
  return 'missing' in found ? found.missing : undefined;
}

/** Simulates one node on which every pod runs and becomes ready at once, without a process. */
export async function startKwok(cluster: KubeCluster): Promise<AsyncDisposable> {
  const found = rig('kwok');
  if ('missing' in found) throw new Error(found.missing);
  const log = openSync(join(cluster.folder, 'kwok.log'), 'a');
  const child = spawn(
    join(found.folder, 'kwok'),
    [
      `--kubeconfig=${cluster.kubeconfig}`,
      `--config=${join(found.folder, 'stages.yaml')}`,
      '--manage-all-nodes=true',
      '--node-ip=127.0.0.1',
      '--cidr=127.64.0.0/10',
      '--node-lease-duration-seconds=40',
    ],
    { stdio: ['ignore', log, log] },
  );
  const node = {
    ...{ apiVersion: 'v1', kind: 'Node' },
    metadata: { name: 'simulated' },
    status: {
      allocatable: { cpu: '10k', memory: '10Ti', pods: '100k' },
      capacity: { cpu: '10k', memory: '10Ti', pods: '100k' },
    },
  };
  await cluster.request('POST', '/api/v1/nodes', node);
  return {
    async [Symbol.asyncDispose]() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      if (child.exitCode !== null) return;
      child.kill('SIGKILL');
      await ended;
    },
  };
}
