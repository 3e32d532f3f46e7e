import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { findMarked, sweepOrphans } from '../../../hosts/workloads/proxy/sweep-orphans.ts';
import { until } from '../../support/until.ts';

const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

function orphan(runId: string, code = 'setInterval(() => {}, 1000)'): ChildProcess {
  const env = { ...process.env, TOOLMGR_RUN_ID: runId };
  const child = spawn(process.execPath, ['-e', `${code}; console.log('up')`], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  children.push(child);
  return child;
}

describe('sweepOrphans', () => {
  it('ends every process of a start and no other', async () => {
    const [runId, other] = [randomUUID(), randomUUID()];
    const mine = [orphan(runId), orphan(runId, 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)')];
    const theirs = orphan(other);
    await Promise.all([...mine, theirs].map((child) => once(child.stdout ?? child, 'data')));
    expect(await sweepOrphans(runId, 300)).toBe(2);
    await until(() => mine.every((child) => child.signalCode !== null));
    expect(mine.map((child) => child.signalCode)).toEqual(['SIGTERM', 'SIGKILL']);
    expect(theirs.exitCode ?? theirs.signalCode).toBeNull();
    expect(await sweepOrphans(runId, 300)).toBe(0);
  });

  it('finds them through ps where there is no /proc', async () => {
    const runId = randomUUID();
    const child = orphan(runId);
    await once(child.stdout ?? child, 'data');
    expect(await findMarked(runId, 'darwin')).toEqual([child.pid]);
    expect(await findMarked(runId, 'linux')).toEqual([child.pid]);
  });
});
