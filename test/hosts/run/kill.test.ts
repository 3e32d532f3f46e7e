import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { readWorkload, workloadDir, workloadsDir } from '@toolmgr/plugins/kit/workloads';
import { afterEach, expect } from 'vitest';
import { summaryOf, type WorkloadSummary } from '../../../hosts/workloads/planning/summary.ts';
import { findMarked } from '../../../hosts/workloads/proxy/sweep-orphans.ts';
import { emptyProgramMs } from '../../support/busy-machine.ts';
import { engineCall, SERVER_IMAGE } from '../../support/container-engine.ts';
import { onEngines } from '../../support/on-engines.ts';
import { processes } from '../../support/processes.ts';
import { temporaryFolderOfFile } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';
import { toolmgrSession } from './toolmgr.ts';

const LONG = 240_000;
const TRUTH_MS = 5_000;
const BUSY_FACTOR = 10;
const RUNS_MS = 60_000;
const session = toolmgrSession();

onEngines('toolmgr list after something was killed, on', (on) => {
  const state = temporaryFolderOfFile('kill');

  afterEach(async () => {
    if ((await names()).length > 0) await toolmgr('rm', '--all', '--force');
  }, LONG);

  const kills = (title: string, test: () => Promise<void>): void => on.runs(title, test, LONG);
  const toolmgr = (...args: string[]) => session(state, args, state, { DOCKER_HOST: `unix://${on.engine.socket}` });
  const run = async (workload: string, ...args: string[]): Promise<WorkloadSummary> => {
    const ran = await toolmgr('run', '--name', workload, ...args);
    expect(ran, ran.err).toMatchObject({ code: 0 });
    return listed(workload);
  };
  const web = (workload: string) =>
    run(workload, '--isolate-network=false', '--target-port', '3001', SERVER_IMAGE, '--', 'streamableHttp');
  const speaks = (workload: string) =>
    run(workload, '--isolate-network=false', '--transport', 'stdio', SERVER_IMAGE, '--', 'stdio');
  const names = async (): Promise<readonly string[]> =>
    (await readdir(workloadsDir(state)).catch(() => [])).filter((entry) => entry !== '.changed');
  /** The row of a workload as `toolmgr list` makes it, from the same files. */
  const listed = async (workload: string): Promise<WorkloadSummary> => {
    const record = await readWorkload(state, workload);
    if (record === undefined) throw new Error(`${workload} is not listed`);
    return summaryOf(record);
  };
  /** What `toolmgr list --all --format json` prints of a workload. */
  const printed = async (workload: string): Promise<WorkloadSummary> => {
    const { out } = await toolmgr('list', '--all', '--format', 'json');
    const found = (JSON.parse(out) as WorkloadSummary[]).find((row) => row.name === workload);
    if (found === undefined) throw new Error(`${workload} is not listed: ${out}`);
    return found;
  };
  /** Five seconds, or more on a busy machine. */
  const truthMs = async (): Promise<number> => TRUTH_MS + BUSY_FACTOR * (await emptyProgramMs());
  /** Fails unless the list shows one of the statuses within {@link truthMs}. */
  const shows = async (workload: string, ...statuses: string[]): Promise<WorkloadSummary> => {
    const limitMs = await truthMs();
    let last: WorkloadSummary | undefined;
    await until(async () => {
      last = await listed(workload);
      return statuses.includes(last.status);
    }, limitMs).catch(() => {
      throw new Error(`${workload}: not ${statuses.join(', ')} after ${limitMs} ms: ${JSON.stringify(last)}`);
    });
    return last as WorkloadSummary;
  };
  /** A server takes its time until it answers. */
  const runsAgain = (workload: string): Promise<void> =>
    until(async () => (await listed(workload)).status === 'running', RUNS_MS);
  const answers = async (url: string): Promise<boolean> => {
    const client = new Client({ name: 'test', version: '1' });
    try {
      await client.connect(new StreamableHTTPClientTransport(new URL(url)));
      const { isError } = await client.callTool({ name: 'echo', arguments: { message: 'x' } });
      return isError !== true;
    } catch {
      return false;
    } finally {
      await client.close();
    }
  };
  const containers = async (): Promise<readonly string[]> => {
    const { text } = await engineCall(on.engine.socket, 'GET', '/v1.41/containers/json?all=true');
    return (JSON.parse(text) as { Names: string[] }[]).flatMap(({ Names }) => Names);
  };
  const ask = (method: string, path: string) => engineCall(on.engine.socket, method, `/v1.41/containers/${path}`);
  const killProxy = async (workload: string): Promise<string> => {
    const status = (await readWorkload(state, workload))?.status;
    const pid = status?.proxy?.pid ?? 0;
    process.kill(pid, 'SIGKILL');
    await hasEnded(pid);
    return status?.runId ?? '';
  };
  const hasEnded = (pid: number): Promise<void> => until(() => !processes().some((row) => row.pid === pid));
  const nothingIsLeft = async (...workloads: string[]): Promise<void> => {
    expect(await containers()).toEqual([]);
    for (const workload of workloads) expect(await readWorkload(state, workload)).toBeUndefined();
    expect(await names()).toEqual([]);
    const { text } = await engineCall(on.engine.socket, 'GET', '/v1.41/networks');
    const own = (JSON.parse(text) as { Name: string }[]).filter(({ Name }) => Name.includes('toolmgr'));
    expect(own).toEqual([]);
  };

  /** The proxy of a workload is killed: the list says so, a start serves it again at its address, and a removal works without it. */
  const losesItsProxy = async (workload: string, url: string): Promise<void> => {
    await killProxy(workload);
    await shows(workload, 'unhealthy');
    expect(await printed(workload)).toMatchObject({
      ...{ status: 'unhealthy', status_context: 'its proxy ended unexpectedly', pid: null, url: '' },
    });
    const again = await toolmgr('start', workload);
    expect(again, again.err).toMatchObject({ code: 0 });
    expect(await listed(workload)).toMatchObject({ status: 'running', url });
    expect(await answers(url)).toBe(true);
    const { text } = await engineCall(on.engine.socket, 'GET', '/v1.41/containers/json?all=true');
    const runs = (JSON.parse(text) as { Labels: Record<string, string> }[]).map(
      ({ Labels }) => Labels['dev.toolmgr.run'],
    );
    expect(new Set(runs)).toEqual(new Set([(await readWorkload(state, workload))?.status.runId]));
    await killProxy(workload);
    expect((await toolmgr('rm', workload)).code).toBe(0);
    await nothingIsLeft(workload);
  };

  kills(
    'a container over HTTP is started again when it ended, its workload ends when it was removed, and a killed proxy leaves nothing',
    async () => {
      const { url, pid } = await web('web');
      expect(await ask('POST', 'web/kill')).toMatchObject({ status: 204 });
      expect(await shows('web', 'starting')).toMatchObject({
        status_context: expect.stringContaining('its container ended (exit code 137'),
      });
      await runsAgain('web');
      expect(await printed('web')).toMatchObject({ url, pid, restarts: 1 });
      await until(() => answers(url));

      expect((await ask('POST', 'web/stop?t=1')).status).toBe(204);
      expect(await shows('web', 'starting')).toMatchObject({ restarts: 1 });
      // the user starts it before the back-off has passed
      expect((await ask('POST', 'web/start')).status).toBe(204);
      await runsAgain('web');
      await until(() => answers(url));

      expect((await ask('DELETE', 'web?force=true')).status).toBeLessThan(300);
      await shows('web', 'stopping', 'stopped');
      await until(async () => (await listed('web')).status === 'stopped');
      expect(await printed('web')).toMatchObject({ status_context: 'its container was removed', pid: null });
      await hasEnded(pid ?? 0); // the process ends after its last status

      // a stopped workload keeps its port, and starts again
      expect((await toolmgr('start', 'web')).code).toBe(0);
      expect(await listed('web')).toMatchObject({ status: 'running', url });
      await losesItsProxy('web', url);
    },
  );

  kills('a stdio container is replaced at the next call when it ended, and a killed proxy leaves nothing', async () => {
    const { url, pid } = await speaks('speaks');
    expect(await answers(url)).toBe(true);
    expect((await toolmgr('logs', 'speaks')).out).toContain('Starting default (STDIO) server');
    for (const act of [(id: string) => ask('POST', `${id}/kill`), (id: string) => ask('DELETE', `${id}?force=true`)]) {
      for (const container of await containers()) await act(container.slice(1));
      expect(await shows('speaks', 'running')).toMatchObject({ pid });
      // a call that comes before the proxy has noticed the end fails with the container
      await until(() => answers(url));
    }
    await losesItsProxy('speaks', url);
  });

  kills('the engine may be killed and come back, alone or with everything else, as after a power failure', async () => {
    const first = await web('web');
    await on.engine.kill();
    // Docker's port is served by the engine, podman's is not
    await until(
      async () => (await listed('web')).status === 'unhealthy' || (await answers(first.url)),
      await truthMs(),
    );
    await on.engine.restart();
    await until(() => answers(first.url), RUNS_MS);
    await runsAgain('web');

    const tells = [process.execPath, '--', join(import.meta.dirname, 'servers/tells.mjs')];
    const before = [first, await speaks('speaks'), await run('tells', '--group', 'dev', ...tells)];
    const runIds = await Promise.all(before.map(({ name: workload }) => killProxy(workload)));
    await on.engine.kill();
    for (const pid of (await Promise.all(runIds.map((id) => findMarked(id)))).flat()) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // it ended meanwhile
      }
    }
    for (const { name: workload } of before) await shows(workload, 'unhealthy');
    await on.engine.restart();
    expect((await toolmgr('start', '--all')).code).toBe(0);
    for (const { name: workload, url, group, target } of before) {
      expect(await listed(workload)).toMatchObject({ status: 'running', url, group, target });
      const names = await readdir(workloadDir(state, workload));
      expect(names.filter((file) => file.startsWith('.'))).toEqual([]);
    }
    expect(await answers(first.url)).toBe(true);
    expect((await toolmgr('rm', '--force', 'speaks', 'tells')).code).toBe(0);

    // without the engine a workload is removed with --force only
    await on.engine.kill();
    await killProxy('web');
    await shows('web', 'unhealthy');
    const left = expect.stringContaining('its containers may be left');
    expect(await toolmgr('rm', 'web')).toMatchObject({ code: 1, err: left });
    expect(await listed('web')).toMatchObject({ name: 'web' });
    expect(await toolmgr('rm', '--force', 'web')).toMatchObject({ code: 0, err: left });
    await on.engine.restart();
    // what could not be removed goes with the next workload of this name
    await web('web');
    expect((await toolmgr('rm', '--all', '--force')).code).toBe(0);
    await nothingIsLeft(...before.map(({ name: workload }) => workload));
  });
});
