import { setTimeout as delay } from 'node:timers/promises';
import { changeStatus, isRunning, readWorkload, type WorkloadRecord } from '@toolmgr/plugins/workloads/state';
import { sweepOrphans } from '../proxy/sweep-orphans.ts';

/**
 * Stops a workload: signals its proxy, kills it if it does not end, and ends the processes that a killed proxy left.
 *
 * Signals only the recorded process, never another one that got the same process id. Returns `gone` if there is no workload
 * of this name, `idle` if nothing ran.
 */
export async function stopWorkload(
  state: string,
  name: string,
  graceMs = GRACE_MS,
): Promise<'stopped' | 'idle' | 'gone'> {
  const record = await readWorkload(state, name);
  if (record === undefined) return 'gone';
  const { alive, status } = record;
  if (alive) await endProxy(record, graceMs);
  const orphans = status.runId === undefined ? 0 : await sweepOrphans(status.runId);
  await changeStatus(state, name, (now) => {
    // a proxy that ended by itself has written its status; a killed one could not
    if (now.status.runId !== status.runId || now.alive) return undefined;
    if (now.status.status === 'error' && !alive && orphans === 0 && now.status.proxy === undefined) return undefined;
    return { status: 'stopped', ...(now.status.port === undefined ? {} : { port: now.status.port }) };
  });
  return alive || orphans > 0 ? 'stopped' : 'idle';
}

async function endProxy({ status }: WorkloadRecord, graceMs: number): Promise<void> {
  const { proxy } = status;
  if (proxy === undefined) return;
  for (const [signal, waitMs] of [
    ['SIGTERM', graceMs],
    ['SIGKILL', KILL_MS],
  ] as const) {
    if (!(await isRunning(proxy))) return;
    try {
      process.kill(proxy.pid, signal);
    } catch {
      return; // it has just ended
    }
    const deadlineMs = performance.now() + waitMs;
    while (performance.now() < deadlineMs && (await isRunning(proxy))) await delay(POLL_MS);
  }
}

const GRACE_MS = 15_000; // the proxy gives its workload 5 s and its calls 5 s
const KILL_MS = 2_000;
const POLL_MS = 30;
