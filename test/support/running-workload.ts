import { changeStatus, createRecord, type RunConfig, type WorkloadStatus } from '@toolmgr/plugins/kit/workloads';
import { markProcess } from '../../plugins/kit/files/process-identity.ts';
import { workloadConfigOf } from './workload-config.ts';

/** Records a workload as running; this process counts as its proxy. Nothing listens on the port. */
export async function recordRunning(
  state: string,
  name: string,
  port: number,
  {
    group = 'default',
    status = 'running',
    remoteUrl,
  }: { group?: string; status?: WorkloadStatus['status']; remoteUrl?: string } = {},
): Promise<void> {
  const remote =
    remoteUrl === undefined
      ? {}
      : { process: undefined, transport: 'streamable-http', cmd_args: [], remote_url: remoteUrl };
  await createRecord(state, workloadConfigOf(name, { group, ...remote } as Partial<RunConfig>));
  const proxy = await markProcess(process.pid);
  if (proxy === undefined) throw new Error('this process has no mark');
  await changeStatus(state, name, () => ({ status, proxy, port, url: `http://127.0.0.1:${port}/mcp` }));
}

/** Records a workload as stopped. */
export async function recordStopped(state: string, name: string): Promise<void> {
  await changeStatus(state, name, () => ({ status: 'stopped' }));
}
