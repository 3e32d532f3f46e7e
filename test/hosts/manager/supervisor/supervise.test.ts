import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import {
  createRecord,
  readWorkload,
  readWorkloads,
  WORKLOAD_FILES,
  type WorkloadStatus,
  workloadDir,
} from '@toolmgr/plugins/kit/workloads';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findMarked } from '../../../../hosts/workloads/proxy/sweep-orphans.ts';
import { type RunningCli, startCli } from '../../../support/cli.ts';
import { ownFolders } from '../../../support/manager.ts';
import { processes, processesWith } from '../../../support/processes.ts';
import { proves } from '../../../support/proves.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { until } from '../../../support/until.ts';
import { workloadConfigOf } from '../../../support/workload-config.ts';

const TELLS = join(import.meta.dirname, '../../run/servers/tells.mjs');
const HTTP = join(import.meta.dirname, '../../run/servers/http.mjs');
const LONG = 180_000;
const AGAIN_MS = 60_000; // 10 s on a quiet machine

let home: string;
let state: string;
let managers: RunningCli[];

beforeEach(() => {
  home = temporaryFolder('supervisor');
  state = ownFolders(home).TOOLMGR_STATE_DIR ?? '';
  managers = [];
});

afterEach(async () => {
  for (const manager of managers) await manager[Symbol.asyncDispose]();
  await toolmgr('rm', '--all', '--force');
}, LONG);

const cli = (...args: string[]): RunningCli => startCli(args, { env: ownFolders(home), cwd: '/' });
const toolmgr = (...args: string[]) => cli(...args).finished;

async function serve(): Promise<RunningCli> {
  const manager = cli('serve', '--port', '0');
  managers.push(manager);
  await manager.printed(/serves http/);
  return manager;
}

async function run(name: string, ...args: string[]): Promise<WorkloadStatus> {
  const ran = await toolmgr('run', '--name', name, ...args);
  expect(ran, ran.err).toMatchObject({ code: 0 });
  return statusOf(name);
}

async function statusOf(name: string): Promise<WorkloadStatus> {
  const record = await readWorkload(state, name);
  if (record === undefined) throw new Error(`there is no ${name}`);
  return record.status;
}

const killed = async (pid: number | undefined): Promise<void> => {
  process.kill(pid ?? 0, 'SIGKILL');
  await until(() => processes().every((row) => row.pid !== pid));
};

/** Processes of proxies of a workload, those of other tests excluded. */
async function proxiesOf(name: string): Promise<readonly number[]> {
  const pids = processesWith(`toolmgr proxy ${name}`).map(({ pid }) => pid);
  const own = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')));
  return pids.filter((_, at) => own[at]?.includes(state));
}

/** Waits until another process runs the workload; it has the same port, and no process of before is left. */
async function runsAgain(name: string, before: WorkloadStatus): Promise<WorkloadStatus> {
  await until(async () => {
    const { status, proxy } = await statusOf(name);
    return status === 'running' && proxy?.pid !== before.proxy?.pid;
  }, AGAIN_MS);
  const now = await statusOf(name);
  expect(now).toMatchObject({ port: before.port, url: before.url, desired: 'running' });
  expect(await findMarked(before.runId ?? 'none')).toEqual([]);
  await until(async () => (await proxiesOf(name)).length === 1); // one that was asked to end does so after its last status
  return now;
}

/** Like after a reboot: no process has the mark, and the boot id is another. */
async function reboot(): Promise<void> {
  for (const { name, status } of await readWorkloads(state)) {
    if (status.proxy !== undefined) await killed(status.proxy.pid);
    for (const pid of await findMarked(status.runId ?? 'none')) process.kill(pid, 'SIGKILL');
    const file = join(workloadDir(state, name), WORKLOAD_FILES.status);
    await writeFile(file, (await readFile(file, 'utf8')).replace(/"started": "[^:"]+/, '"started": "another-boot'));
  }
}

describe('the supervisor of toolmgr serve', () => {
  proves(
    ['choice.run.supervised'],
    'starts a workload again whose proxy, program or manager is killed, at the same port and once',
    async () => {
      const manager = await serve();
      let [stdio, http] = [await run('stdio', '--', process.execPath, TELLS, '--linger'), await runHttp('http')];

      await Promise.all([killed(stdio.proxy?.pid), killed(http.proxy?.pid)]);
      [stdio, http] = await Promise.all([runsAgain('stdio', stdio), runsAgain('http', http)]);

      // the program of a workload is started again by its proxy
      const program = (await findMarked(http.runId ?? 'none')).find((pid) => pid !== http.proxy?.pid);
      await killed(program);
      await until(
        async () => (await statusOf('http')).restarts === 1 && (await statusOf('http')).status === 'running',
        AGAIN_MS,
      );
      expect(await statusOf('http')).toMatchObject({ proxy: http.proxy, port: http.port });

      // without a manager nothing is started again, and workloads run on
      await killed(manager.pid);
      expect(await statusOf('stdio')).toMatchObject({ status: 'running', proxy: stdio.proxy });
      await killed(stdio.proxy?.pid);
      await serve();
      await runsAgain('stdio', stdio);
      expect(await statusOf('http')).toMatchObject({ proxy: http.proxy });
    },
    LONG,
  );

  it(
    'leaves what the user stopped, and starts what the machine stopped',
    async () => {
      const manager = await serve();
      const ran = await run('one', '--', process.execPath, TELLS);
      await run('two', '--', process.execPath, TELLS);
      expect((await toolmgr('stop', 'two')).code).toBe(0);
      process.kill(ran.proxy?.pid ?? 0, 'SIGTERM'); // as at a shutdown
      await runsAgain('one', ran);
      expect(await statusOf('two')).toMatchObject({ status: 'stopped', desired: 'stopped' });
      expect((await toolmgr('restart', 'one')).code).toBe(0);
      expect(await statusOf('one')).toMatchObject({ status: 'running', port: ran.port });
      expect(await proxiesOf('one')).toHaveLength(1);

      // a workload runs on without its manager
      manager.signal('SIGTERM');
      expect((await manager.finished).code).toBe(0);
      expect(await statusOf('one')).toMatchObject({ status: 'running', desired: 'running' });
    },
    LONG,
  );

  it(
    'shows why a workload does not start, starts it less and less often, and starts others meanwhile',
    async () => {
      const port = await freePort();
      const holder = createServer().listen(port, '127.0.0.1');
      await recordOf('fails', {
        process: { ...program(TELLS), args: ['-e', 'console.error("no licence"); process.exit(3)'] },
      });
      await recordOf('hangs', { process: { ...program(TELLS), args: ['-e', 'setInterval(() => {}, 1000)'] } });
      await recordOf('taken', { process: program(TELLS) }, { port });
      await recordOf('good', { process: program(TELLS) });
      const manager = await serve();
      await until(async () => (await statusOf('good')).status === 'running', AGAIN_MS);
      await until(async () => (await statusOf('taken')).message?.includes(`port ${port}`) === true, AGAIN_MS);
      await until(async () => (await statusOf('fails')).status === 'error', AGAIN_MS);
      expect(await statusOf('fails')).toMatchObject({ desired: 'running', message: expect.any(String) });
      expect((await statusOf('hangs')).status).toBe('starting');
      const starts = () => manager.err().match(/"a workload is started again","workload":"fails"/g)?.length ?? 0;
      expect(starts()).toBeLessThan(4);

      // the port is free again
      holder.close();
      await until(async () => (await statusOf('taken')).status === 'running', AGAIN_MS);
      expect(await statusOf('taken')).toMatchObject({ port });

      expect((await toolmgr('stop', 'hangs')).code).toBe(0);
      expect(await statusOf('hangs')).toMatchObject({ status: 'stopped', desired: 'stopped' });
    },
    LONG,
  );

  it(
    'starts everything again after a reboot, and a second manager does nothing',
    async () => {
      const names = Array.from({ length: 6 }, (_, n) => `w${n}`);
      for (const name of names) await recordOf(name, { process: program(TELLS) });
      const first = await serve();
      await allRun(names);
      const before = new Map(await Promise.all(names.map(async (name) => [name, await statusOf(name)] as const)));
      const second = await toolmgr('serve', '--port', '0');
      expect(second.code).not.toBe(0);
      expect(second.err).toContain('another manager serves');
      await killed(first.pid);
      await reboot();
      await serve();
      await allRun(names);
      for (const name of names) await runsAgain(name, before.get(name) as WorkloadStatus);
    },
    LONG,
  );
});

const program = (file: string) => ({ target: 'node', file: process.execPath, args: [file], cwd: '/' });

const runHttp = async (name: string) =>
  run(name, '--transport', 'streamable-http', '--target-port', String(await freePort()), '--', process.execPath, HTTP);

async function recordOf(name: string, more: object, status: Partial<WorkloadStatus> = {}): Promise<void> {
  await createRecord(state, workloadConfigOf(name, { cmd_args: [], ...more }));
  const file = join(workloadDir(state, name), WORKLOAD_FILES.status);
  const written = JSON.parse(await readFile(file, 'utf8'));
  await writeFile(file, JSON.stringify({ ...written, desired: 'running', ...status }));
}

async function allRun(names: readonly string[]): Promise<void> {
  await until(async () => {
    const all = await readWorkloads(state);
    return (
      all.filter(({ name, status }) => names.includes(name) && status.status === 'running').length === names.length
    );
  }, 60_000);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
