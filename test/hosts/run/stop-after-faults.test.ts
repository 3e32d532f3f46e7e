import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { markProcess } from '@toolmgr/plugins/kit/files';
import { changeStatus, createRecord, readWorkload, WORKLOAD_FILES, workloadDir } from '@toolmgr/plugins/kit/workloads';
import { afterEach, beforeEach, expect } from 'vitest';
import { removeWorkload } from '../../../hosts/workloads/planning/remove.ts';
import { moveText, startStored } from '../../../hosts/workloads/planning/start.ts';
import { stopWorkload } from '../../../hosts/workloads/planning/stop.ts';
import { withFailingWrites } from '../../plugins/skills/install/failing-writes.ts';
import { proves } from '../../support/proves.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { workloadConfigOf } from '../../support/workload-config.ts';

const SERVER = join(import.meta.dirname, '../manager/workloads/server.mjs');

let state: string;
const proxies: ChildProcess[] = [];

beforeEach(() => {
  state = temporaryFolder('faults');
});

afterEach(async () => {
  await removeWorkload(state, 'one', { force: true });
  for (const proxy of proxies.splice(0)) proxy.kill('SIGKILL');
});

/** A workload whose proxy is a process that only runs. `ended` resolves with the signal that ended it. */
async function withProxy(): Promise<{ readonly ended: Promise<unknown> }> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000); console.log(1)'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  proxies.push(child);
  const ended = once(child, 'exit').then(([, signal]) => signal);
  await once(child.stdout, 'data');
  const proxy = await markProcess(child.pid ?? 0);
  await createRecord(state, workloadConfigOf('one'));
  const running = { status: 'running', desired: 'running', runId: 'run-of-test', port: 1 } as const;
  await changeStatus(state, 'one', () => ({ ...running, proxy }));
  return { ended };
}

proves('choice.run.damaged-status', 'whose status is damaged, a workload is removed with its proxy', async () => {
  const { ended } = await withProxy();
  await writeFile(join(workloadDir(state, 'one'), WORKLOAD_FILES.status), '{"format":1,"sta');
  expect(await removeWorkload(state, 'one', { force: false })).toMatchObject({ kind: 'refused' });
  expect(await removeWorkload(state, 'one', { force: true })).toEqual({ kind: 'removed' });
  expect(await ended).toBe('SIGTERM');
});

proves(
  'choice.run.full-disk',
  'on a full disk a workload is stopped, and what could not be stored is said',
  async () => {
    const { ended } = await withProxy();
    const full = { at: 1, andAllLater: true, code: 'ENOSPC' };
    const { outcome } = await withFailingWrites(full, () => stopWorkload(state, 'one'));
    expect(outcome).toMatchObject({
      status: 'fulfilled',
      value: { kind: 'left', problem: expect.stringContaining('the disk is full') },
    });
    expect(await ended).toBe('SIGTERM');
    expect(await stopWorkload(state, 'one')).toEqual({ kind: 'idle' });
    expect((await readWorkload(state, 'one'))?.status).toMatchObject({ status: 'stopped', desired: 'stopped' });
  },
);

proves(
  'choice.run.moved-port',
  'when another program has the port of the last start, a start says so',
  async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const program = { target: 'small', file: process.execPath, args: [SERVER], cwd: '/' };
    await createRecord(state, workloadConfigOf('one', { process: program, cmd_args: [] }));
    await changeStatus(state, 'one', () => ({ status: 'stopped', port }));
    const started = await startStored(state, 'one', { signal: AbortSignal.timeout(60_000), report: () => {} });
    other.close();
    if (started.kind !== 'running') throw new Error(JSON.stringify(started));
    expect(started.movedFrom).toBe(port);
    expect(moveText(started)).toBe(
      `port ${port} of its last start is taken by another program: clients need the new address ${started.record.status.url}`,
    );
  },
  90_000,
);
