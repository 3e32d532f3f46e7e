import { setTimeout as delay } from 'node:timers/promises';
import { changeStatus, isRunning, readWorkload, type WorkloadRecord } from '@toolmgr/plugins/workloads/state';
import { sweepOrphans } from './sweep-orphans.ts';

/**
 * Stops a workload: asks its proxy, kills it when it does not end, and ends what a killed one left behind.
 *
 * Only exactly the process that was recorded is signalled; a recycled number is not it. `gone` when there is no
 * workload of this name; `idle` when nothing ran.
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
    // a proxy that ended by itself has said so; one that was killed could not
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
      return; // it ended in this very moment
    }
    const deadlineMs = performance.now() + waitMs;
    while (performance.now() < deadlineMs && (await isRunning(proxy))) await delay(POLL_MS);
  }
}

const GRACE_MS = 15_000; // the proxy itself gives its workload 5 s and its calls 5 s
const KILL_MS = 2_000;
const POLL_MS = 30;
