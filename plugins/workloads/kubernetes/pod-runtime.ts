import { GatewayFault, type StdioLauncher } from '@toolmgr/core';
import type { WorkloadRuntime } from '@toolmgr/plugins/kit/extension-points';
import { wholeLines } from '@toolmgr/plugins/kit/files';
import { createOutput, heldWorkload } from '@toolmgr/plugins/kit/workloads';
import { type Cluster, launchInPod, type PodSession } from './pod-process.ts';

/** Name of the launcher in the slot `stdioLaunchers`, and of the runtime. */
export const KUBERNETES = 'kubernetes';

/** The runtime and what connects to its pods. */
export interface PodRuntime {
  readonly runtime: WorkloadRuntime;
  readonly launcher: StdioLauncher;
}

/** Serves stdio servers in pods that exist. `cluster` is asked before each connection. */
export function createPodRuntime(
  cluster: () => Promise<Cluster>,
  waiting: (workload: string, reason: string) => void,
): PodRuntime {
  const sessions = new Map<string, PodSession & { readonly output: ReturnType<typeof createOutput> }>();
  return {
    runtime: {
      async start({ name, pod, logFile, transport }) {
        const refuse = (what: string) => new GatewayFault('WORKLOAD_FAILED', `workload ${name}: ${what}`);
        if (pod === undefined) throw refuse('the runtime kubernetes needs a pod');
        if (transport !== 'stdio') throw refuse('a container of a pod is attached to with the transport stdio');
        await cluster().catch((cause: Error) => {
          throw refuse(cause.message);
        });
        const output = createOutput(logFile);
        sessions.set(name, { pod, cluster, used: undefined, output, waiting: (reason) => waiting(name, reason) });
        const command = { launcher: KUBERNETES, file: name, args: [] };
        const held = heldWorkload(name, { transport: 'stdio', command });
        return {
          ...held,
          get state() {
            return held.state;
          },
          logs: () => output.tail(),
          async stop(graceMs) {
            sessions.delete(name);
            await held.stop(graceMs);
            output.close();
          },
        };
      },
    },
    launcher({ file }) {
      const session = sessions.get(file);
      if (session === undefined) throw new GatewayFault('WORKLOAD_FAILED', `workload ${file} has been stopped`);
      const child = launchInPod(session);
      const lines = wholeLines((part) => session.output.add(part));
      child.stderr?.on('data', (chunk: Buffer) => lines.add(chunk));
      child.stderr?.once('close', () => lines.end());
      return child;
    },
  };
}
